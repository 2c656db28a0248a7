"""Rules on what the paper says of its experiments that no run decides."""

from __future__ import annotations

import gymnasium
from pydantic import Field

from suite.claims.verdicts import NOT_TESTED, Data, Finding, Outcome, Parameters, Rule, by_findings
from suite.config.models import Text


class Registered(Parameters):
    thresholds: dict[str, float] = Field(min_length=1)  # the paper's, by Gymnasium's names

    def needed(self) -> list[tuple[str, str]]:
        return []


def registered_thresholds(data: Data, parameters: Registered, level: float) -> Outcome:
    """The paper's thresholds are those that Gymnasium registers."""
    return by_findings(
        [
            Finding(
                f"{name}: {threshold:g} in the paper",
                "the threshold that Gymnasium registers",
                registered := float(gymnasium.spec(name).reward_threshold or "nan"),
                supports=threshold == registered,
            )
            for name, threshold in parameters.thresholds.items()
        ]
    )


class Reason(Parameters):
    reason: Text


def no_test(data: Data, parameters: Reason, level: float) -> Outcome:
    """A sentence that no run or computation here decides."""
    return Outcome(NOT_TESTED, reason=parameters.reason)


RULES: tuple[Rule, ...] = (registered_thresholds, no_test)
