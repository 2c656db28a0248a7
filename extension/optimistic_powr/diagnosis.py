"""What `learn` warns of besides `powr.health`: a best return that never came again."""

from __future__ import annotations

import numpy as np

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


def lost_best(returns: list[float]) -> str | None:
    """What the returns of all finished episodes say against the agent, with what to try."""
    if len(returns) < _MANY_EPISODES:
        return None
    early, late = np.array_split(returns, 2)
    if early.max() - late.max() > max(_SHARE_OF_RANGE * np.ptp(returns), _DEVIATIONS * late.std()):
        return (
            f"the best return so far, {early.max():g}, came in episode {early.argmax() + 1} of "
            f"{len(returns)}, and none of the second half exceeds {late.max():g}. {_REMEDIES}"
        )
    return None
