"""shares.csv: in what share of the universes each claim holds, and which setting decides most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from suite.claims.verdicts import NOT_TESTED, REPRODUCED
from suite.config import MULTIVERSE, Variant
from suite.multiverse.universes import ALL, CLAIM, Multiverse, Question, value_text
from suite.results.tables import read_table

NONE = "none"  # no setting decides


class Share(NamedTuple):
    """A claim against a set of baselines, in all universes of its environments."""

    id: str
    against: str
    environment: str  # `all` where the claim is about several, with the same settings on each
    policy: str
    universes: int
    tested: int  # a universe with too few seeds or timesteps for the rule is not
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
        more = f" ({untested} not tested)" if untested else ""
        return f"{self.holds} of {self.universes}{more}"


def tabulate(multiverse: Multiverse, universes: pd.DataFrame) -> pd.DataFrame:
    """One row per claim, set and environment; where it is about several, one row for all."""
    return pd.DataFrame(_shares(multiverse, universes), columns=Share._fields)


def _shares(multiverse: Multiverse, universes: pd.DataFrame) -> Iterator[Share]:
    for question in multiverse.questions:
        environments = question.environments()
        for environment in environments:
            rows = universes[
                (universes["environment"] == environment)
                & (universes["policy"] == question.policy)
                & (universes["against"] == question.against)
            ]
            verdicts = dict(zip(rows["universe"], rows[CLAIM + question.id], strict=True))
            found = [
                (_texts([variant]), verdicts[variant.runs[0].digest])
                for variant in multiverse.on(environment)
            ]
            yield count(question, environment, found)
        if len(environments) > 1:
            together = multiverse.together(environments)
            verdict = multiverse.verdict
            yield count(
                question,
                ALL,
                [(_texts(each), verdict(question, multiverse.data(each))) for each in together],
            )


def _texts(variants: Sequence[Variant]) -> dict[str, str]:
    return {key: value_text(value) for each in variants for key, value in each.varied.items()}


def count(
    question: Question, environment: str, found: Sequence[tuple[Mapping[str, str], str]]
) -> Share:
    """The share of universes, given as settings and verdict, in which a claim holds."""
    table = pd.DataFrame([settings for settings, _ in found])
    verdicts = pd.Series([verdict for _, verdict in found])
    holds, tested = verdicts == REPRODUCED, verdicts != NOT_TESTED
    share = Share(
        question.id,
        question.against,
        environment,
        question.policy,
        len(found),
        int(tested.sum()),
        int(holds.sum()),
        holds.mean() if tested.any() else float("nan"),
    )
    widest = 0.0
    ties: list[tuple[str, str, float, float]] = []
    for key in table:
        of_value = holds.groupby(table[key]).mean().sort_values(kind="stable")
        difference = of_value.iloc[-1] - of_value.iloc[0]
        if difference > widest:
            widest, ties = difference, []
        if 0 < difference == widest:
            ties.append((key, of_value.index[-1], of_value.iloc[-1], of_value.iloc[0]))
    if not ties:
        return share
    keys, values, better, worse = zip(*ties, strict=True)
    return share._replace(
        decides=" or ".join(keys),
        better=" or ".join(values),
        share_better=better[0],
        share_worse=worse[0],
    )


def read(results: Path) -> list[Share]:
    """The shares there are; none before the multiverse is made."""
    path = results / MULTIVERSE / "shares.csv"
    if not path.exists():
        return []
    table = read_table(
        path, keep_default_na=False, na_values={"share": "", "share_better": "", "share_worse": ""}
    )
    return [Share(**row) for row in table.to_dict("records")]


def share_of(claim: str, against: str, results: Path = Path("results")) -> Share | None:
    """In how many universes a claim holds against a set of baselines; None where nobody counted.

    Of a claim about several environments, with the same settings on each.
    """
    found = [share for share in read(results) if (share.id, share.against) == (claim, against)]
    return found[-1] if found else None
