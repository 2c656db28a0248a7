"""The multiverse: the paper's POWR under every plausible combination of settings nobody knows.

envs.yaml says which settings are open and which values are plausible. A *universe* is one
combination of them. Each claim on POWR's runs is judged once per universe, by the same rule and
against the same runs of the baselines as at the paper scale. `read` gives the shares.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from suite.config import MULTIVERSE
from suite.results.tables import read_table

NONE = "none"  # no setting decides
SHARES = ("share", "share_better", "share_worse")


class Share(NamedTuple):
    """In how many universes a claim holds against a set of baselines."""

    id: str
    against: str
    environment: str  # `all`: on each of the claim's environments with the same settings
    policy: str
    universes: int
    tested: int  # not those with too few seeds or timesteps for the rule
    holds: int
    share: float  # of all universes; empty where none is tested
    decides: str = NONE  # the setting whose values differ most in the share
    better: str = ""  # its value under which the claim holds more often
    share_better: float = float("nan")
    share_worse: float = float("nan")

    def __str__(self) -> str:
        if not self.tested:
            return "not tested"
        untested = self.universes - self.tested
        return f"{self.holds} of {self.universes}" + (
            f" ({untested} not tested)" if untested else ""
        )


def read(results: Path = Path("results")) -> list[Share]:
    """All shares that were counted; of a claim about several environments the last is for all."""
    path = results / MULTIVERSE / "shares.csv"
    if not path.exists():
        return []
    table = read_table(path, keep_default_na=False, na_values=dict.fromkeys(SHARES, ""))
    return [Share(**row) for row in table.to_dict("records")]
