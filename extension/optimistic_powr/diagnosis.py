"""Faults besides those of `powr.health`: of the policy shown, and a best return that was lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from powr.health import MANY_EPISODES

# The policy shown may come to an action that was never taken in this share of cases.
_UNVISITED_SHARE = 0.1

# The policy shown is clearly worse than training if it falls short of the last tenth of the
# episodes by this share of the range of all returns, and by so many standard errors.
_SHORT_SHARE_OF_RANGE = 0.1
_STANDARD_ERRORS = 3.0

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


def more_findings(
    returns: Sequence[float],
    unvisited_share: float | None = None,
    shown_return: float | None = None,
) -> dict[str, str]:
    """What is wrong, by a short name. What is not known is None and is not judged.

    Parameters
    ----------
    returns : sequence of float
        The return of each finished episode.
    unvisited_share : float or None
        The share of the episodes of the policy that `predict` shows, as far as the data tell, in
        which it comes to an action that was never taken there; in a box, of the visited states.
    shown_return : float or None
        An estimate of the mean return of that policy.
    """
    judged = {
        "unvisited_actions": unvisited_actions(unvisited_share),
        "worse_than_training": worse_than_training(shown_return, returns),
        "lost_best": lost_best(returns),
    }
    return {name: message for name, message in judged.items() if message is not None}


def unvisited_actions(share: float | None) -> str | None:
    if share is None or share <= _UNVISITED_SHARE:
        return None
    return (
        f"in about {share:.0%} of cases the policy that predict shows comes to an action that was "
        "never taken there, whose value is a guess. Learn for more timesteps, or reduce "
        "the actions or the observations"
    )


def worse_than_training(shown_return: float | None, returns: Sequence[float]) -> str | None:
    if shown_return is None or len(returns) < MANY_EPISODES:
        return None
    late = np.asarray(returns[-max(MANY_EPISODES, len(returns) // 10) :])
    error = late.std(ddof=1) / np.sqrt(len(late))
    allowed = max(_SHORT_SHARE_OF_RANGE * float(np.ptp(returns)), _STANDARD_ERRORS * float(error))
    if late.mean() - shown_return <= allowed:
        return None
    return (
        f"the policy that predict shows is estimated to return {shown_return:.4g}, the last "
        f"{len(late)} episodes of training returned {late.mean():.4g} on average. Learn for more "
        "timesteps, and compare both by episodes of your own before you use predict"
    )


def lost_best(returns: Sequence[float]) -> str | None:
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
