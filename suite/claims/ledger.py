"""Which claims of the paper hold: claims.csv, one row a finding, and claims.md to read.

Judges each claim of claims.yaml by its rule on the run files of a scale.

    python -m suite.claims.ledger --scale quick
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from suite import SuiteError, config
from suite.claims import deviations
from suite.claims.page import render
from suite.claims.rules import RULES, needed
from suite.claims.verdicts import NOT_TESTED, Data, Finding, Outcome
from suite.command import write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.results import aggregate
from suite.results.statistics import Interval
from suite.results.summary import shared_timestep
from suite.results.tables import other_runs, read_table

SCHEMA = Path(__file__).parents[2] / "schemas" / "claims.schema.json"
NUMBERS = ["estimate", "low", "high", "p_value"]
DIGITS = 6  # those that another processor computes alike


class Judged(NamedTuple):
    """A claim with its verdict, and the run files that it rests on."""

    claim: Mapping[str, Any]
    outcome: Outcome
    preliminary: bool
    runs: Sequence[Run]


def load(path: str | Path) -> dict[str, Any]:
    """Read and check claims.yaml."""
    claims = config.read_yaml(path)
    config.check_schema(claims, SCHEMA, path)
    for name, times in Counter(claim["id"] for claim in claims["claims"]).items():
        if times > 1:
            raise SuiteError(f"{path}: claims: the id {name} is given twice: keep one of the two")
    return claims


def gather(study: Mapping[str, Any], scale: str, loaded: aggregate.Loaded) -> Data:
    """What the rules see of a scale."""
    planned = aggregate.plan(study, scale)
    environments = dict.fromkeys(pair.environment for pair in planned)
    return Data(
        loaded.evaluations,
        {(pair.environment, pair.algorithm): pair.timesteps[-1] for pair in planned},
        {name: shared_timestep(planned, name) for name in environments},
        {
            name: aggregate.exact_bounds(study["environments"][name]).optimum
            for name in environments
        },
    )


def judge(
    claim: Mapping[str, Any], data: Data, level: float, loaded: aggregate.Loaded, partial: bool
) -> Outcome:
    """Apply the claim's rule, unless runs that it needs are missing."""
    pairs = needed(claim["parameters"])
    for environment, algorithm in pairs:
        name = f"{algorithm_name(algorithm)} on {environment}"
        if (environment, algorithm) not in data.budgets:
            return Outcome(NOT_TESTED, reason=f"{name} is not part of this scale")
        missing = _runs_of(loaded.missing, [(environment, algorithm)])
        there = _runs_of(loaded.metadata, [(environment, algorithm)])
        if not there or (missing and not partial):
            due = len(there) + len(missing)
            return Outcome(NOT_TESTED, reason=f"{len(missing)} of {due} runs of {name} are missing")
    return RULES[claim["rule"]](data, claim["parameters"], level)


def judge_all(
    claims: Mapping[str, Any], data: Data, scale: str, loaded: aggregate.Loaded, partial: bool
) -> list[Judged]:
    """Every claim in order; a verdict on runs is preliminary unless all of the paper's are in."""
    judged = []
    for claim in claims["claims"]:
        pairs = needed(claim["parameters"])
        outcome = judge(claim, data, claims["level"], loaded, partial)
        incomplete = scale != claims["scale"] or bool(_runs_of(loaded.missing, pairs))
        preliminary = bool(pairs) and incomplete and outcome.verdict != NOT_TESTED
        judged.append(Judged(claim, outcome, preliminary, _runs_of(loaded.metadata, pairs)))
    return judged


def _runs_of(
    runs: Sequence[Run] | Mapping[Run, Any], pairs: Sequence[tuple[str, str]]
) -> list[Run]:
    return [run for run in runs if (run.environment, run.algorithm) in pairs]


def tabulate(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row a finding; a claim without any has one row all the same."""
    table = pd.DataFrame(
        {
            "id": entry.claim["id"],
            "claim": entry.claim["claim"],
            "place": entry.claim["place"],
            "rule": entry.claim["rule"],
            "verdict": entry.outcome.verdict,
            "preliminary": entry.preliminary,
            "reason": entry.outcome.reason,
            "subject": finding.subject,
            "statistic": finding.statistic,
            "estimate": finding.estimate,
            "low": finding.interval.low,
            "high": finding.interval.high,
            "p_value": finding.p_value,
            "supports": finding.supports,
            "run_files": " ".join(
                map(str, sorted(r.path for r in _runs_of(entry.runs, finding.runs)))
            ),
        }
        for entry in judged
        for finding in entry.outcome.findings or [Finding("", "", float("nan"))]
    )
    table[NUMBERS] = table[NUMBERS].map(lambda number: float(f"{number:.{DIGITS}g}"))
    return table


def read_judged(path: Path, claims: Mapping[str, Any], loaded: aggregate.Loaded) -> list[Judged]:
    """The verdicts of a claims.csv, in the order of claims.yaml."""
    words = ["reason", "subject", "statistic", "run_files"]
    table = read_table(path, dtype=dict.fromkeys(words, str))
    table[words] = table[words].fillna("")
    groups = dict(list(table.groupby("id")))
    if set(groups) != {claim["id"] for claim in claims["claims"]}:
        raise SuiteError(
            f"{path}: judges other claims than claims.yaml has: run suite.claims.ledger again"
        )
    judged = []
    for claim in claims["claims"]:
        rows = groups[claim["id"]].to_dict("records")
        outcome = Outcome(
            rows[0]["verdict"],
            [_read_finding(row) for row in rows if row["subject"]],
            rows[0]["reason"],
        )
        runs = _runs_of(loaded.metadata, needed(claim["parameters"]))
        files = {file for row in rows for file in row["run_files"].split()}
        if files and files != {str(run.path) for run in runs}:
            raise other_runs(
                path, f"{claim['id']} rests on {len(files)} runs, {len(runs)} are there"
            )
        judged.append(Judged(claim, outcome, rows[0]["preliminary"], runs))
    return judged


def _read_finding(row: Mapping[str, Any]) -> Finding:
    return Finding(
        row["subject"],
        row["statistic"],
        row["estimate"],
        Interval(row["low"], row["high"]),
        row["p_value"],
        None if pd.isna(row["supports"]) else bool(row["supports"]),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="suite.claims.ledger", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--scale", required=True, help="a scale of the study")
    parser.add_argument("--partial", action="store_true", help="judge by the runs that are there")
    parser.add_argument("--envs", default="envs.yaml", help="the study (default: %(default)s)")
    parser.add_argument("--claims", default="claims.yaml", help="default: %(default)s")
    parser.add_argument("--deviations", default="deviations.yaml", help="default: %(default)s")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the run files"
    )
    parser.add_argument("--out-dir", type=Path, help="default: the scale's folder in the results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, claims = config.load(options.envs), load(options.claims)
        departures = deviations.load(options.deviations, claims)["deviations"]
        loaded = aggregate.load_runs(study, options.scale, options.results, partial=True)
        data = gather(study, options.scale, loaded)
        judged = judge_all(claims, data, options.scale, loaded, options.partial)
        folder = options.out_dir or options.results / options.scale
        page = render(judged, claims["rules"], options.scale, departures)
        table = aggregate.to_csv(tabulate(judged))
        return {folder / "claims.csv": table, folder / "claims.md": page}

    return write_result(parser.prog, make)


if __name__ == "__main__":
    sys.exit(main())
