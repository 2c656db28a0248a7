"""What `learn` warns of: a task that the extension does not learn, and observations that shift."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.wrappers import NormalizeObservation

from powr.environment import layers_of

# With fewer episodes there is too little evidence.
_MANY_EPISODES = 40

# The best return counts as lost if no episode of the second half comes within this share of the
# range of all returns, and within so many standard deviations of the second half: single returns
# may be noisy.
_SHARE_OF_RANGE = 0.25
_DEVIATIONS = 3.0

_REMEDIES = (
    "Try a reward that comes more often, observations of fewer dimensions, more timesteps, or POWR"
)


def failure(returns: list[float]) -> str | None:
    """What the returns of all finished episodes say against the agent, with what to try."""
    if len(returns) < _MANY_EPISODES:
        return None
    if min(returns) == max(returns):
        return (
            f"all {len(returns)} episodes so far had the return {returns[0]:g}, as random play may "
            f"have: nothing was learned. {_REMEDIES}"
        )
    early, late = np.array_split(returns, 2)
    if early.max() - late.max() > max(_SHARE_OF_RANGE * np.ptp(returns), _DEVIATIONS * late.std()):
        return (
            f"the best return so far, {early.max():g}, came in episode {early.argmax() + 1} of "
            f"{len(returns)}, and none of the second half exceeds {late.max():g}. {_REMEDIES}"
        )
    return None


def shifting_observations(env: gymnasium.Env) -> str | None:
    """A wrapper that changes what an observation means while the agent learns."""
    if any(isinstance(layer, NormalizeObservation) for layer in layers_of(env)):
        return (
            "NormalizeObservation changes its scale while the agent learns, so that old "
            "transitions no longer fit the new ones: leave the wrapper out, since OptimisticPOWR "
            "scales observations itself"
        )
    return None
