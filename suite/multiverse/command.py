"""In what share of the universes each claim holds: universes.csv, shares.csv and multiverse.md.

python -m suite multiverse
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite import config, markdown
from suite.claims import ledger
from suite.claims.verdicts import FEWEST_SEEDS_FOR_SPREAD
from suite.command import make_parser, write_result
from suite.multiverse import NONE, Share, shares, universes
from suite.multiverse.shares import ALL
from suite.results.tables import to_csv

PAGE = Path(__file__).with_name("page.md.in").read_text(encoding="utf-8")


def render(
    multiverse: universes.Multiverse, found: Sequence[Share], sets: Mapping[str, Any]
) -> str:
    scope = multiverse.scope
    choices = {
        key: values for name in scope.timesteps for key, values in scope.choices_on(name).items()
    }
    sizes = [
        f"{len(multiverse.on(name))} on {name} ({scope.seeds[name]} seeds, {n:,} timesteps)"
        for name, n in scope.timesteps.items()
    ]
    claims = {each.claim["id"]: each.claim for each in multiverse.questions}
    against = list(dict.fromkeys(each.against for each in found))
    heads = [sets[name]["label"] if name else "others" for name in against]
    cells = {(each.id, each.environment, each.against): cell(each) for each in found}
    rows = [
        [
            claims[name]["claim"],
            environment,
            *(cells.get((name, environment, a), "") for a in against),
        ]
        for name, environment in dict.fromkeys((each.id, each.environment) for each in found)
    ]
    # The last row of a claim is about all its environments.
    whole = {(each.id, each.against): each for each in found if claims[each.id].get("quote")}
    sentences = answer([each for each in whole.values() if each.tested], sets)
    if missing := len(multiverse.tables.missing):
        there = len(multiverse.tables.there)
        sentences.append(f"Preliminary: made of {there} of {there + missing} runs.")
    return PAGE.format(
        answer=" ".join(sentences),
        settings=", ".join(f"`{key}`" for key, values in choices.items() if len(values) > 1),
        sizes="; ".join(sizes),
        all=ALL,
        seeds=FEWEST_SEEDS_FOR_SPREAD,
        table=markdown.table([("claim", "environment", *heads), *rows]),
    )


def answer(tested: Sequence[Share], sets: Mapping[str, Any]) -> list[str]:
    """How robust the paper's claims are, and what they hang on, in a few sentences."""
    sentences = []
    for against in sets:
        own = [each for each in tested if each.against == against]
        always = sum(each.holds == each.universes for each in own)
        never = sum(each.holds == 0 for each in own)
        sentences.append(
            f"{sets[against]['name']}: of {len(own)} claims of the paper, {always} hold in every "
            f"universe, {len(own) - always - never} in some and {never} in none."
        )
    if deciding := Counter(each.decides for each in tested if each.decides != NONE):
        ((name, times),) = deciding.most_common(1)
        total = deciding.total()
        sentences.append(f"Where settings decide, it is most often `{name}` ({times} of {total}).")
    return sentences


def cell(share: Share) -> str:
    if share.decides == NONE:
        return str(share)
    both = f"{share.share_better:.0%} against {share.share_worse:.0%}"
    return f"{share}; {share.decides}: {share.better} ({both})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("multiverse", __doc__, "--envs", "--claims", "--results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, claims = config.load(options.envs), ledger.load(options.claims)
        results = options.results or study.results
        multiverse = universes.Multiverse(study, claims, results)
        rows = universes.tabulate(multiverse)
        counted = list(shares.tabulate(multiverse, rows))
        folder = results / config.MULTIVERSE
        return {
            folder / "universes.csv": to_csv(rows),
            folder / "shares.csv": to_csv(pd.DataFrame(counted)),
            folder / "multiverse.md": render(multiverse, counted, claims["sets"]),
        }

    return write_result(parser.prog, make)
