"""Which claims of the paper hold: claims.csv, one row per finding, and claims.md to read.

Judges each claim of claims.yaml by its rule on the runs of a scale, once per set of settings that
it names under `against`. The multiverse asks the same `questions` of other runs of POWR: a rule
judges the runs in its `Data`.

    python -m suite claims --scale quick
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import pandas as pd
from pydantic import Field, StringConstraints

import baselines
from suite import SuiteError, config
from suite.claims import deviations
from suite.claims.page import Group, group_of, render
from suite.claims.rules import RULES
from suite.claims.verdicts import BEYOND, NOT_TESTED, SAMPLED, Data, Finding, Outcome, Parameters
from suite.command import OPTIONS, make_parser, write_result
from suite.config import Run, Study
from suite.config.models import Block, Id, Text, UniqueTexts
from suite.names import algorithm_name
from suite.results import aggregate
from suite.results.statistics import Interval
from suite.results.tables import Results, read_results, read_table, to_csv

NUMBERS = ["estimate", "low", "high", "p_value", "p_holm", "smallest_visible"]
FOUND = ["subject", "statistic", *NUMBERS[:-1], "is_bound", "smallest_visible", "supports"]
DIGITS = 6  # those that another processor computes alike


class RuleText(Block):
    statistic: Text
    decision: Text


class Sentence(Block):
    """A sentence of the paper about its experiments; the claims that name it are its parts."""

    short: Text
    place: Text
    quote: Text
    note: Text | None = None  # what a reader of the verdict should know


class Claim(Block):
    id: Id
    claim: Text
    sentence: Text | None = None  # gives place, quote and note
    place: Text | None = None  # where the paper says it, or what it belongs to beyond the paper
    quote: Text | None = None  # none, of its own or by its sentence: beyond the paper
    note: Text | None = None
    rule: Literal[tuple(RULES)]  # type: ignore[valid-type]
    parameters: dict[str, Any]
    against: UniqueTexts | None = None  # sets of settings; one verdict for each
    policies: list[Literal["deterministic", "sampled"]] | None = None  # one claim for each
    tests: list[Annotated[str, StringConstraints(pattern=r"^tests/.+\.py::.+$")]] | None = None


class SettingsSet(Block):
    """Whose settings the baselines have."""

    name: Text
    label: Text  # the name in a few words
    counterparts: dict[str, str]


class Document(Block):
    scale: str  # verdicts at other scales are preliminary
    level: float = Field(gt=0, lt=1)
    sets: dict[str, SettingsSet]
    rules: dict[Literal[tuple(RULES)], RuleText]  # type: ignore[valid-type]
    sentences: dict[Id, Sentence] | None = None
    claims: list[Claim] = Field(min_length=1)


class Judged(NamedTuple):
    """A claim with one of its verdicts, and the run files that it rests on."""

    claim: Mapping[str, Any]
    outcome: Outcome
    preliminary: bool
    runs: Sequence[Run]
    against: str = ""  # the set of settings; empty where the claim names none


def load(path: str | Path) -> dict[str, Any]:
    """Read and check claims.yaml; each claim's parameters are those that its rule declares.

    A claim gets the place, quote and note of its sentence, and is one claim per policy.
    """
    document = config.read_yaml(path)
    config.check_model(document, Document, path)
    claims = document["claims"] = list(_expand(document, path))
    config.check_unique((claim["id"] for claim in claims), path)
    for claim in claims:
        if claim["rule"] not in document["rules"]:
            raise SuiteError(f"{path}: rules: lacks {claim['rule']}, the rule of {claim['id']}")
        place = f"{path}: {claim['id']}: against"
        config.check_known(claim.get("against", []), document["sets"], place)
        claim["parameters"] = parameters_of(claim, path)
    return document


def _expand(document: Mapping[str, Any], path: str | Path) -> Iterator[dict[str, Any]]:
    sentences = document.get("sentences", {})
    for claim in document["claims"]:
        if "sentence" in claim:
            config.check_known([claim["sentence"]], sentences, f"{path}: {claim['id']}: sentence")
            said = sentences[claim["sentence"]]
            claim = {**{key: said[key] for key in said if key != "short"}, **claim}
        elif "place" not in claim:
            raise SuiteError(f"{path}: {claim['id']}: place is missing: add it, or a sentence")
        for policy in claim.pop("policies", [None]):
            own = dict(claim)
            if policy:
                own["parameters"] = {**claim["parameters"], "policy": policy}
            if policy == SAMPLED:
                text = f"{claim['claim'].removesuffix('.')}, by the sampled policy."
                own.update(id=f"{claim['id']}-{SAMPLED}", claim=text)
            yield own


def parameters_of(claim: Mapping[str, Any], path: str | Path) -> Parameters:
    declared = get_type_hints(RULES[claim["rule"]])["parameters"]
    return config.check_model(claim["parameters"], declared, path, claim["id"], "parameters")


def gather(study: Study, scale: str, results: Results, optima: Mapping[str, float]) -> Data:
    """What the rules see of a scale; `optima` are exact returns by environment."""
    pairs = ["environment", "algorithm"]
    return Data(
        results.evaluations,
        results.arrivals,
        budgets={each[:2]: each.timesteps[-1] for each in aggregate.plan(study, scale)},
        optima=optima,
        first_updates=results.training.groupby(pairs)["first_update"].first().to_dict(),
        greedy=[n for n, block in study.algorithms.items() if block.class_ in baselines.EXPLORERS],
    )


def read_optima(folder: Path) -> dict[str, float]:
    """Exact optimal returns by environment, from summary.csv; NaN where there is none."""
    return read_table(folder / "summary.csv").groupby("environment")["optimum"].first().to_dict()


def lacking_runs(parameters: Parameters, data: Data, results: Results, partial: bool) -> str:
    """Which of the runs that a rule needs are missing; empty if it can be applied."""
    for environment, algorithm in parameters.needed():
        name = f"{algorithm_name(algorithm)} on {environment}"
        if (environment, algorithm) not in data.budgets:
            return f"{name} is not part of this scale"
        missing = _runs_of(results.missing, [(environment, algorithm)])
        there = _runs_of(results.there, [(environment, algorithm)])
        if not there or (missing and not partial):
            return f"{len(missing)} of {len(there) + len(missing)} runs of {name} are missing"
    return ""


def questions(claims: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str, Parameters]]:
    """Every claim with every set of settings that it names, in order."""
    for claim in claims["claims"]:
        for name in claim.get("against", [""]):
            counterparts = claims["sets"][name]["counterparts"] if name else {}
            yield claim, name, claim["parameters"].against(counterparts)


def worded(claim: Mapping[str, Any], verdict: str) -> str:
    """The verdict in the words for what the claim is about: beyond the paper it is "shown"."""
    return BEYOND[verdict] if group_of(claim) == Group.BEYOND else verdict


def judge_all(
    claims: Mapping[str, Any], data: Data, scale: str, results: Results, partial: bool
) -> list[Judged]:
    """Every verdict in order; one on runs is preliminary unless all of the paper's are in."""
    judged = []
    for claim, against, parameters in questions(claims):
        pairs = parameters.needed()
        if lacking := lacking_runs(parameters, data, results, partial):
            outcome = Outcome(NOT_TESTED, reason=lacking)
        else:
            outcome = RULES[claim["rule"]](data, parameters, claims["level"])
        outcome = outcome._replace(verdict=worded(claim, outcome.verdict))
        incomplete = scale != claims["scale"] or bool(_runs_of(results.missing, pairs))
        preliminary = bool(pairs) and incomplete and outcome.verdict != NOT_TESTED
        runs = _runs_of(results.there, pairs)
        judged.append(Judged(claim, outcome, preliminary, runs, against))
    return judged


def _runs_of(runs: Sequence[Run], pairs: Sequence[tuple[str, str]]) -> list[Run]:
    return [run for run in runs if (run.environment, run.algorithm) in pairs]


def tabulate(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row per finding; a verdict without any has one row all the same."""
    rows = []
    for entry in judged:
        verdict = {
            **{key: entry.claim[key] for key in ("id", "claim", "place", "rule")},
            "against": entry.against,
            "verdict": entry.outcome.verdict,
            "preliminary": entry.preliminary,
            "reason": entry.outcome.reason,
        }
        for finding in entry.outcome.findings or [Finding("", "", float("nan"))]:
            files = sorted(str(run.path) for run in _runs_of(entry.runs, finding.runs))
            found = {**finding._asdict(), **finding.interval._asdict()}
            rows.append({**verdict, **found, "run_files": " ".join(files)})
    table = pd.DataFrame(rows)[[*verdict, *FOUND, "run_files"]]
    table[NUMBERS] = table[NUMBERS].map(lambda number: float(f"{number:.{DIGITS}g}"))
    return table


def read_judged(
    path: Path, claims: Mapping[str, Any], results: Results | None = None
) -> list[Judged]:
    """The verdicts of a claims.csv in the order of claims.yaml, with the runs they rest on."""
    words = ["against", "reason", "subject", "statistic", "run_files"]
    table = read_table(path)
    if not {"id", *words} <= set(table.columns):
        raise SuiteError(f"{path}: lacks columns of a table of verdicts: run snakemake again")
    table[words] = table[words].astype(object).fillna("")
    groups = dict(list(table.groupby(["id", "against"])))
    asked = list(questions(claims))
    if set(groups) != {(claim["id"], against) for claim, against, _ in asked}:
        raise SuiteError(
            f"{path}: judges other claims than claims.yaml has: run `snakemake claims` again"
        )
    judged = []
    for claim, against, parameters in asked:
        rows = groups[claim["id"], against].to_dict("records")
        findings = [
            Finding(
                **{key: row[key] for key in Finding._fields if key in row and key != "supports"},
                interval=Interval(row["low"], row["high"]),
                supports=None if pd.isna(row["supports"]) else bool(row["supports"]),
            )
            for row in rows
            if row["subject"]
        ]
        outcome = Outcome(rows[0]["verdict"], findings, rows[0]["reason"])
        runs = _runs_of(results.there, parameters.needed()) if results else []
        judged.append(Judged(claim, outcome, rows[0]["preliminary"], runs, against))
    return judged


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("claims", __doc__, *OPTIONS)
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, claims = config.load(options.envs), load(options.claims)
        departures = deviations.load(options.deviations, claims)["deviations"]
        results = options.results or study.results
        tables = read_results(study, options.scale, results / options.scale)
        optima = read_optima(results / options.scale)
        data = gather(study, options.scale, tables, optima)
        judged = judge_all(claims, data, options.scale, tables, options.partial)
        folder = options.out_dir or results / options.scale
        page = render(judged, claims, options.scale, departures)
        table = to_csv(tabulate(judged))
        return {folder / "claims.csv": table, folder / "claims.md": page}

    return write_result(parser.prog, make)
