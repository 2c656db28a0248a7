"""The answer to "does it replicate?": one sentence, and one row per sentence of the paper.

Every number comes from claims.csv, summary.csv or the multiverse's shares.csv.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

import baselines
from suite.claims.ledger import Judged
from suite.claims.page import Group, Sentence, joint_text, joint_verdict, sentences
from suite.claims.verdicts import NOT_REPRODUCED, NOT_TESTED, PARTLY, REPRODUCED
from suite.config.models import DEEP_OF_SOURCE, POWR, TEXTBOOK
from suite.multiverse import Share
from suite.names import algorithm_name

CENTRAL = "quicker"  # the sentence of claims.yaml that the paper's abstract rests on
LEAD = {
    REPRODUCED: "The paper's main claim replicates",
    PARTLY: "The paper's main claim replicates in part",
    NOT_REPRODUCED: "The paper's main claim does not replicate",
    NOT_TESTED: "The paper's main claim was not tested",
}
OF_PAPER = (POWR, *DEEP_OF_SOURCE.values())  # the kinds of algorithm that the paper compares


def experiments(judged: Sequence[Judged], document: Mapping[str, Any]) -> dict[str, Sentence]:
    """The sentences on the results of experiments, by their names in claims.yaml."""
    found = {}
    for sentence in sentences(judged, document):
        if sentence.group == Group.EXPERIMENTS:
            first, *_ = next(iter(sentence.parts.values()))
            found[first.claim.get("sentence", sentence.quote)] = sentence
    return found


def answer(judged: Sequence[Judged], document: Mapping[str, Any], shares: Sequence[Share]) -> str:
    """The answer in sentences that can be quoted alone."""
    said = experiments(judged, document)
    # The sets of baselines in words: against baselines with ...
    whose = {name: each["name"].removeprefix("POWR ") for name, each in document["sets"].items()}
    parts = ["Preliminary."] if any(entry.preliminary for entry in judged) else []
    if central := said.get(CENTRAL):
        verdict = joint_verdict([entry for entries in central.parts.values() for entry in entries])
        parts.append(f"{LEAD[verdict]}.")
        found = []
        for name, entries in central.parts.items():
            tested = [e.outcome.verdict for e in entries if e.outcome.verdict != NOT_TESTED]
            holds = tested.count(REPRODUCED)
            found.append(f"{holds} of {len(tested)} cases {whose[name]}")
        parts.append(
            "With the best-evidenced settings, POWR reaches the reward threshold "
            f"in fewer timesteps than every baseline in {' and in '.join(found)} (a case is an "
            "environment and a policy)."
        )
        if any(found := share_texts(central, shares, document["sets"])):
            parts.append(
                "The paper does not report its settings: across all plausible ones, the claim "
                f"holds in at least {' and '.join(found)} of cases."
            )
    counts = []
    for name in document["sets"]:
        verdicts = [joint_verdict(s.parts[name]) for s in said.values() if name in s.parts]
        whole, some = verdicts.count(REPRODUCED), verdicts.count(PARTLY)
        verb = "holds" if whole == 1 else "hold"
        counts.append(f"{whole} {verb} in full and {some} in part {whose[name]}")
    parts.append(f"Of the paper's {len(said)} claims on experiments, {' and '.join(counts)}.")
    return " ".join(parts)


def table(
    judged: Sequence[Judged],
    document: Mapping[str, Any],
    shares: Sequence[Share],
    summary: pd.DataFrame,
) -> list[tuple[str, ...]]:
    """One row per sentence on the results of experiments, the head first.

    `summary` is summary.csv with a column `class`, that of the algorithm in envs.yaml.
    """
    sets = document["sets"]
    against = [f"against {each['label']}" for each in sets.values()]
    rows = [("the paper says", *against, "universes where it holds", "what was seen")]
    for name, sentence in experiments(judged, document).items():
        verdicts = [
            joint_text(sentence.parts[key]) if key in sentence.parts else "" for key in sets
        ]
        share = " / ".join(text or "–" for text in share_texts(sentence, shares, sets))
        seen = SEEN[name](summary) if name in SEEN else support_text(sentence)
        rows.append((sentence.short, *verdicts, share, seen))
    return rows


def share_texts(sentence: Sentence, shares: Sequence[Share], sets: Mapping[str, Any]) -> list[str]:
    """In what share of all universes its parts hold, by set of baselines; empty if untested."""
    found = []
    for name in sets:
        # Of a claim about several environments the last row is the one for all of them.
        last = {share.id: share for share in shares if share.against == name}
        own = [last[claim] for claim in sentence.claims if claim in last and last[claim].tested]
        holds, universes = sum(each.holds for each in own), sum(each.universes for each in own)
        found.append(f"{holds / universes:.0%}" if own else "")
    return found


def support_text(sentence: Sentence) -> str:
    findings = [
        finding.supports
        for entries in sentence.parts.values()
        for entry in entries
        if entry.outcome.verdict != NOT_TESTED
        for finding in entry.outcome.findings
        if finding.supports is not None
    ]
    return f"{sum(findings)} of {len(findings)} comparisons support it" if findings else "–"


def medians(summary: pd.DataFrame, kinds: Sequence[str], policy: str) -> dict[str, tuple]:
    """By environment, the smallest median to the first threshold and whose it is."""
    rows = summary[summary["kind"].isin(kinds) & (summary["policy"] == policy)]
    found = {}
    for environment, group in rows.groupby("environment", sort=False):
        group = group[group["threshold"] == group["threshold"].iloc[0]]
        best = group.sort_values("timesteps_to_threshold", kind="stable").iloc[0]
        found[environment] = (best["timesteps_to_threshold"], best["algorithm"])
    return found


def _quicker(summary: pd.DataFrame) -> str:
    """Like with like; a policy that is sampled only to explore is none to compare with."""
    thresholds = summary.drop_duplicates("environment")["threshold"]
    texts = []
    for policy in ("deterministic", "sampled"):
        own = medians(summary, [POWR], policy)
        explores = summary["class"].isin(baselines.EXPLORERS)
        rows = summary[~explores] if policy == "sampled" else summary
        others = medians(rows, list(DEEP_OF_SOURCE.values()), policy)
        texts.append(f"{policy} {_times(own)} (best {policy} baseline: {_named(others)})")
    levels = ", ".join(f"{threshold:g}" for threshold in thresholds)
    return f"median timesteps to {levels}: {'; '.join(texts)}"


def _spread(summary: pd.DataFrame) -> str:
    texts = []
    for policy in ("deterministic", "sampled"):
        rows = summary[(summary["kind"] == POWR) & (summary["policy"] == policy)]
        rows = rows.drop_duplicates("environment")
        ranges = [f"{_time(row.earliest)} to {_time(row.latest)}" for row in rows.itertuples()]
        texts.append(f"{policy} {', '.join(ranges)}")
    return f"earliest to latest seed: {'; '.join(texts)}"


def _on_taxi(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows of Taxi-v3 on the deterministic policies of the algorithms that the paper has."""
    here = (summary["environment"] == "Taxi-v3") & (summary["policy"] == "deterministic")
    return summary[here & summary["kind"].isin(OF_PAPER)]


def _reached(summary: pd.DataFrame, threshold: float, classes: Sequence[str]) -> str:
    rows = _on_taxi(summary[summary["threshold"] == threshold])
    return "; ".join(
        f"{algorithm_name(row.algorithm)}: {row.n_reached} of {row.seeds} runs"
        for row in rows[rows["class"].isin(classes)].itertuples()
    )


def _local_optimum(summary: pd.DataFrame) -> str:
    rows = _on_taxi(summary).drop_duplicates("algorithm").dropna(subset="final_mean")
    is_dqn, is_own, ends = rows["class"] == "dqn", rows["kind"] == POWR, rows["final_mean"]
    named = "; ".join(
        f"{algorithm_name(row.algorithm)} {row.final_mean:,.1f}"
        for row in rows[is_own | is_dqn].itertuples()
    )
    others = ends[~is_dqn & ~is_own].max()
    return f"mean return at the end: {named}; the others at most {others:,.1f}"


# Half a line of what was seen, by sentence.
SEEN = {
    "quicker": _quicker,
    "local-optimum": _local_optimum,
    "taxi-eight": lambda summary: _reached(summary, 8, ["powr", "dqn"]),
    "taxi-six-ppo": lambda summary: _reached(summary, 6, ["ppo"]),
    "less-variance": _spread,
    "stable-amount": _spread,
}


def beyond(summary: pd.DataFrame) -> str:
    """What textbook methods say, in two sentences."""
    own = medians(summary, [POWR], "deterministic")
    peers = medians(summary, [TEXTBOOK], "deterministic")
    fewer = [
        name
        for name, (time, _) in own.items()
        if not math.isnan(peers[name][0]) and not time <= peers[name][0]
    ]
    return (
        f"By the median of deterministic policies, a textbook method needs fewer timesteps than "
        f"POWR on {len(fewer)} of {len(own)} environments. On {', '.join(own)}, the medians are "
        f"{_times(own)} for POWR and {_named(peers)} for the best textbook method."
    )


def _times(found: Mapping[str, tuple[float, str]]) -> str:
    return ", ".join(_time(time) for time, _ in found.values())


def _named(found: Mapping[str, tuple[float, str]]) -> str:
    """Times with whose they are."""
    return ", ".join(
        _time(time) + ("" if math.isnan(time) else f" ({algorithm_name(name)})")
        for time, name in found.values()
    )


def _time(time: float) -> str:
    return "never" if math.isnan(time) else f"{time:,.0f}"
