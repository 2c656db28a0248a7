"""In what share of the universes each claim holds: universes.csv, shares.csv and multiverse.md.

python -m suite multiverse
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suite import SuiteError, config, markdown
from suite.claims import ledger
from suite.claims.rules.seeds import FEWEST_SEEDS_FOR_SPREAD
from suite.command import make_parser, write_result
from suite.multiverse import shares, universes
from suite.multiverse.shares import NONE, Share
from suite.results.aggregate import to_csv

PAGE = """# The multiverse

{answer}

Nobody outside knows with which settings the paper's figures were made. So the paper's POWR was
trained under every combination of what public evidence leaves open: {settings}. Each combination
is a universe: {sizes}. The baselines are those of the paper scale. Every claim on POWR's
experiments is judged in every universe by its own rule (claims.yaml). Where a claim is about
several environments, the row `{all}` asks for it on all of them with the same settings. A universe
with fewer seeds or timesteps than the rule asks for is not tested and does not count as one where
the claim holds.{few}

{table}

Beside each count: the setting that makes the largest difference, the value under which the claim
holds more often, and the share of universes in which it holds with that value and with the other.
`universes.csv` has the verdicts and the arrivals of every universe, `shares.csv` this table.
"""

SPREAD = " Claims on the spread between seeds need {} seeds, so they are not tested on {}."


def render(
    multiverse: universes.Multiverse, found: Sequence[Share], sets: Mapping[str, Any]
) -> str:
    scope = multiverse.study["multiverse"]
    sizes = (
        f"{len(multiverse.on(name))} on {name} with {scope['seeds'][name]} seeds and "
        f"{timesteps:,} timesteps"
        for name, timesteps in scope["timesteps"].items()
    )
    few = [name for name, seeds in scope["seeds"].items() if seeds < FEWEST_SEEDS_FOR_SPREAD]
    return PAGE.format(
        answer=answer(multiverse, found, sets),
        settings=", ".join(f"`{key}`" for key in multiverse.open_settings()),
        sizes="; ".join(sizes),
        all=universes.ALL,
        few=SPREAD.format(FEWEST_SEEDS_FOR_SPREAD, ", ".join(few)) if few else "",
        table=markdown.table(table(multiverse, found, sets)),
    )


def answer(
    multiverse: universes.Multiverse, found: Sequence[Share], sets: Mapping[str, Any]
) -> str:
    """Two or three sentences: how robust the paper's claims are, and what they hang on."""
    quoted = {question.id for question in multiverse.questions if question.is_quoted}
    # The last row of a claim is about all its environments.
    whole = {(each.id, each.against): each for each in found if each.id in quoted}
    tested = [each for each in whole.values() if each.tested]
    sentences = []
    for against in sets:
        own = [each for each in tested if each.against == against]
        if own:
            always = sum(each.holds == each.universes for each in own)
            never = sum(each.holds == 0 for each in own)
            sentences.append(
                f"{sets[against]['name']}: of {len(own)} claims of the paper, {always} hold in "
                f"every universe, {len(own) - always - never} in some and {never} in none."
            )
    deciding = Counter(each.decides for each in tested if each.decides != NONE)
    if deciding:
        (name, times), *_ = deciding.most_common()
        sentences.append(
            f"Where the settings decide, it is most often `{name}` ({times} of "
            f"{deciding.total()} verdicts)."
        )
    there, planned = len(multiverse.evaluations), multiverse.runs_planned()
    if there < planned:
        sentences.append(f"Preliminary: made of {there} of {planned} runs.")
    return " ".join(sentences)


def table(
    multiverse: universes.Multiverse, found: Sequence[Share], sets: Mapping[str, Any]
) -> list[list[str]]:
    """One row per claim and environment, one column per set of baselines."""
    against = list(dict.fromkeys(each.against for each in found))
    names = [sets[name]["label"] if name else "other algorithms" for name in against]
    rows: dict[tuple[str, str], dict[str, Share]] = {}
    for each in found:
        rows.setdefault((each.id, each.environment), {})[each.against] = each
    claims = {question.id: question.claim for question in multiverse.questions}
    return [
        ["claim", "environment", *names],
        *(
            [claims[name], environment, *(cell(cells.get(each)) for each in against)]
            for (name, environment), cells in rows.items()
        ),
    ]


def cell(share: Share | None) -> str:
    if share is None:
        return ""
    if share.decides == NONE:
        return str(share)
    both = f"{share.share_better:.0%} against {share.share_worse:.0%}"
    return f"{share}; {share.decides}: {share.better} ({both})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser(
        "multiverse", __doc__, "--envs", "--claims", "--results", "--out-dir", "--partial"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, claims = config.load(options.envs), ledger.load(options.claims)
        if "multiverse" not in study:
            raise SuiteError(f"{options.envs}: has no block multiverse: add one")
        multiverse = universes.Multiverse(study, claims, options.results)
        there, planned = len(multiverse.evaluations), multiverse.runs_planned()
        if there < planned:
            fault = f"{planned - there} of {planned} runs of the multiverse are missing"
            if not options.partial or not there:
                raise SuiteError(f"{fault}: run `make multiverse`, or give --partial")
            print(f"{parser.prog}: made of {there} of {planned} runs", file=sys.stderr)
        table = universes.tabulate(multiverse)
        shared = shares.tabulate(multiverse, table)
        found = [Share(*row) for row in shared.itertuples(index=False)]
        folder = options.out_dir or options.results / config.MULTIVERSE
        return {
            folder / "universes.csv": to_csv(table),
            folder / "shares.csv": to_csv(shared),
            folder / "multiverse.md": render(multiverse, found, claims["sets"]),
        }

    return write_result(parser.prog, make)
