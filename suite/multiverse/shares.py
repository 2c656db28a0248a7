"""shares.csv: in what share of the universes each claim holds, and which setting decides most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from suite.claims.verdicts import HOLDS, NOT_TESTED
from suite.multiverse import Share
from suite.multiverse.universes import CLAIM, KEY, SETTING, Multiverse, Question, value_text

ALL = "all"  # stands for the environment where a claim is about several of them


def tabulate(multiverse: Multiverse, universes: pd.DataFrame) -> Iterator[Share]:
    """One share per claim, set and environment; where it is about several, one more for all."""
    settings = universes.filter(like=SETTING).rename(
        columns=lambda name: name.removeprefix(SETTING)
    )
    together = {}
    for environments in {question.environments() for question in multiverse.questions}:
        if len(environments) > 1:
            variants = multiverse.together(environments)
            together[environments] = [(each, multiverse.data(each)) for each in variants]
    for question in multiverse.questions:
        for environment in question.environments():
            key = [environment, question.parameters.policy, question.against]
            own = (universes[KEY] == key).all(axis=1)
            verdicts = universes.loc[own, CLAIM + question.claim["id"]]
            yield count(question, environment, settings[own].to_dict("records"), list(verdicts))
        if joint := together.get(question.environments()):
            texts = [
                {key: value_text(value) for each in variants for key, value in each.varied.items()}
                for variants, _ in joint
            ]
            verdicts = [multiverse.verdict(question, data) for _, data in joint]
            yield count(question, ALL, texts, verdicts)


def count(
    question: Question,
    environment: str,
    settings: Sequence[Mapping[str, str]],
    verdicts: Sequence[str],
) -> Share:
    """The share of universes, given by settings and verdict, in which a claim holds."""
    table = pd.DataFrame(settings)
    holds = pd.Series(verdicts).isin(HOLDS)
    tested = sum(verdict != NOT_TESTED for verdict in verdicts)
    share = Share(
        question.claim["id"],
        question.against,
        environment,
        question.parameters.policy,
        len(holds),
        tested,
        int(holds.sum()),
        holds.mean() if tested else float("nan"),
    )
    shares_of = {key: holds.groupby(table[key]).mean().sort_values(kind="stable") for key in table}
    spans = {key: each.iloc[-1] - each.iloc[0] for key, each in shares_of.items() if len(each)}
    deciding = [key for key, span in spans.items() if 0 < span == max(spans.values())]
    if not deciding:
        return share
    first = shares_of[deciding[0]]
    return share._replace(
        decides=" or ".join(deciding),
        better=" or ".join(shares_of[key].index[-1] for key in deciding),
        share_better=first.iloc[-1],
        share_worse=first.iloc[0],
    )
