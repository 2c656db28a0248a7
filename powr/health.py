"""What is wrong with an agent at the end of `learn`: an agent that fails should say so."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from powr.environment import layers_of

# With fewer episodes equal returns may be chance.
MANY_EPISODES = 10

# Action values may leave the range that rewards allow by this share of it, since they are estimates
# of values between states.
OVERSHOOT = 0.25


def findings(
    timesteps: int,
    n_epochs: int,
    returns: Sequence[float],
    overshoot: float = 0.0,
    epoch: str = "epoch",
) -> dict[str, str]:
    """What is wrong, by a short name: one sentence on the fault, one on the remedy.

    `returns` are those of finished episodes; `overshoot` is how far action values leave the range
    that rewards allow, as a share of it; `epoch` is what an improvement of the policy is called.
    """
    found = {}
    if timesteps > 0 and n_epochs == 0:
        found["no_epoch"] = (
            f"there was no {epoch} in {timesteps:,} timesteps, so that the policy is still the "
            "uniform one. Learn for more timesteps in one call; where episodes do not end, wrap "
            "the environment in gymnasium.wrappers.TimeLimit"
        )
    if len(returns) >= MANY_EPISODES and min(returns) == max(returns):
        found["equal_returns"] = (
            f"all {len(returns)} episodes so far had the return {returns[0]:g}, as random play may "
            "have: nothing was learned. Try a reward that comes more often, observations of fewer "
            "dimensions, or more timesteps"
        )
    if overshoot > OVERSHOOT:
        found["overshoot"] = (
            f"action values lie beyond what rewards allow, by {overshoot:.0%} of that range: do "
            "not rely on them. Try more timesteps, a rougher kernel or another bandwidth; and see "
            "to it that the reward follows from the observation and the action"
        )
    return found


def shifting_scales(env: gymnasium.Env) -> dict[str, str]:
    """Wrappers that change what an observation or a reward means while the agent learns."""
    remedies = {
        "observations": (NormalizeObservation, "scale by constants"),
        "rewards": (NormalizeReward, "multiply by a constant with TransformReward"),
    }
    return {
        subject: (
            f"{wrapper.__name__} changes its scale while the agent learns, so that old transitions "
            f"no longer fit the new ones: leave the wrapper out, or {remedy}"
        )
        for subject, (wrapper, remedy) in remedies.items()
        if any(isinstance(layer, wrapper) for layer in layers_of(env))
    }
