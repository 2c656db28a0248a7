"""What is wrong with an agent at the end of `learn`: plain functions of facts, each with a remedy.

An agent that fails should say so. Whatever a fact cannot be known of is None and is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gymnasium
import numpy as np
from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from powr.environment import layers_of

# With fewer episodes equal returns may be chance, and a mean return says little.
_MANY_EPISODES = 10

# Action values may leave the range that rewards allow by this share of it, since they are estimates
# of values between states.
OVERSHOOT = 0.25

# The policy shown may come to an action that was never taken in this share of cases.
_UNVISITED_SHARE = 0.1

# The policy shown is clearly worse than training if it falls short of the last tenth of the
# episodes by this share of the range of all returns, and by so many standard errors.
_SHARE_OF_RANGE = 0.1
_STANDARD_ERRORS = 3.0


class Facts(NamedTuple):
    """What is known of an agent.

    Attributes
    ----------
    timesteps : int
    n_epochs : int
        How often the policy was improved.
    returns : sequence of float
        The return of each finished episode.
    overshoot : float or None
        How far action values leave the range that rewards allow, as a share of that range.
    unvisited_share : float or None
        The share of the episodes of the policy that `predict` shows, as far as the data tell, in
        which it comes to an action that was never taken there; in a box, of the visited states.
    shown_return : float or None
        An estimate of the mean return of the policy that `predict` shows, where another policy
        trains.
    epoch : str
        What an improvement of the policy is called.
    """

    timesteps: int
    n_epochs: int
    returns: Sequence[float]
    overshoot: float | None = None
    unvisited_share: float | None = None
    shown_return: float | None = None
    epoch: str = "epoch"


def findings(facts: Facts) -> dict[str, str]:
    """What is wrong, by a short name: one sentence on the fault, one on the remedy."""
    judged = {
        "no_epoch": no_epoch(facts),
        "equal_returns": equal_returns(facts.returns),
        "overshoot": overshoot(facts.overshoot),
        "unvisited_actions": unvisited_actions(facts.unvisited_share),
        "worse_than_training": worse_than_training(facts.shown_return, facts.returns),
    }
    return {name: message for name, message in judged.items() if message is not None}


def no_epoch(facts: Facts) -> str | None:
    if facts.n_epochs > 0 or facts.timesteps == 0:
        return None
    return (
        f"there was no {facts.epoch} yet after {facts.timesteps:,} timesteps, so that the policy "
        "is still the uniform one. Learn for more timesteps in one call; where episodes do not "
        "end, wrap the environment in gymnasium.wrappers.TimeLimit"
    )


def equal_returns(returns: Sequence[float]) -> str | None:
    if len(returns) < _MANY_EPISODES or min(returns) < max(returns):
        return None
    return (
        f"all {len(returns)} episodes so far had the return {returns[0]:g}, as random play may "
        "have: nothing was learned. Try a reward that comes more often, observations of fewer "
        "dimensions, or more timesteps"
    )


def overshoot(share: float | None) -> str | None:
    if share is None or share <= OVERSHOOT:
        return None
    return (
        f"action values lie beyond what rewards allow, by {share:.0%} of that range: do not rely "
        "on them. Try more timesteps, a rougher kernel or another bandwidth; and see to it that "
        "the reward follows from the observation and the action"
    )


def unvisited_actions(share: float | None) -> str | None:
    if share is None or share <= _UNVISITED_SHARE:
        return None
    return (
        f"in about {share:.0%} of cases the policy that predict shows comes to an action that was "
        "never taken there, whose value is a guess. Learn for more timesteps, or reduce "
        "the actions or the observations"
    )


def worse_than_training(shown_return: float | None, returns: Sequence[float]) -> str | None:
    if shown_return is None or len(returns) < _MANY_EPISODES:
        return None
    late = np.asarray(returns[-max(_MANY_EPISODES, len(returns) // 10) :])
    error = late.std(ddof=1) / np.sqrt(len(late))
    allowed = max(_SHARE_OF_RANGE * float(np.ptp(returns)), _STANDARD_ERRORS * float(error))
    if late.mean() - shown_return <= allowed:
        return None
    return (
        f"the policy that predict shows is estimated to return {shown_return:.4g}, the last "
        f"{len(late)} episodes of training returned {late.mean():.4g} on average. Learn for more "
        "timesteps, and compare both by episodes of your own before you use predict"
    )


def shifting_scales(env: gymnasium.Env) -> dict[str, str]:
    """Wrappers that change what an observation or a reward means while the agent learns."""
    layers = list(layers_of(env))
    remedies = {
        "observations": (NormalizeObservation, "leave the wrapper out, or scale by constants"),
        "rewards": (
            NormalizeReward,
            "leave the wrapper out, or multiply by a constant with TransformReward",
        ),
    }
    return {
        subject: (
            f"{wrapper.__name__} changes its scale while the agent learns, so that old transitions "
            f"no longer fit the new ones: {remedy}"
        )
        for subject, (wrapper, remedy) in remedies.items()
        if any(isinstance(layer, wrapper) for layer in layers)
    }
