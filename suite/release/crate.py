"""ro-crate-metadata.json: each verdict with its rule, runs and code, for machines.

An RO-Crate 1.3 (https://w3id.org/ro/crate/1.3) whose root is the folder of a scale. The words are
those of schema.org: a verdict is a ClaimReview, a training is a CreateAction. The checksums of the
files are in MANIFEST.sha256.

    python -m suite crate --scale paper
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from suite import config
from suite.claims import ledger
from suite.claims.ledger import Judged
from suite.command import make_parser, write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.release.cards import CARD, commit_of, has_agent
from suite.report.report import TABLES
from suite.results import aggregate

NAME = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.3"
LICENSE = "https://spdx.org/licenses/MIT"
PAPER = "https://arxiv.org/abs/2406.19861"
TITLE = "Operator World Models for Reinforcement Learning"
AUTHORS = "#contributors"

Entity = dict[str, Any]


def describe(options: argparse.Namespace) -> Entity:
    """The whole crate."""
    study, document = config.load(options.envs), ledger.load(options.claims)
    loaded = aggregate.load_runs(study, options.scale, options.results, partial=True)
    table = options.results / options.scale / "claims.csv"
    judged = ledger.read_judged(table, document, loaded)
    runs = loaded.metadata
    files = [entity(path, "File", name=name) for path, name in name_files(runs).items()]
    trainings = list(training_entities(runs))
    verdicts = [verdict_entity(entry, document) for entry in judged]
    root = entity(
        "./",
        "Dataset",
        name=f"Replication of {TITLE}, scale {options.scale}",
        description=(
            f"{len(runs)} training runs, the tables made of them, and the verdict on each claim of "
            "the paper with what it rests on."
        ),
        # When the last run began: the same whenever the crate is made again.
        datePublished=max(metadata["started"] for metadata in runs.values()),
        license=link(LICENSE),
        author=link(AUTHORS),
        about=link(PAPER),
        hasPart=[link(each["@id"]) for each in files],
        mentions=[link(each["@id"]) for each in (*verdicts, *trainings)],
    )
    use = "Free use with the notice of copyright."
    graph = [
        entity(NAME, "CreativeWork", about=link("./"), conformsTo=link(SPECIFICATION)),
        root,
        entity(PAPER, "ScholarlyArticle", name=TITLE, url=PAPER),
        entity(LICENSE, "CreativeWork", name="MIT License", identifier=LICENSE, description=use),
        entity(AUTHORS, "Organization", name="The contributors of this replication", url=PAPER),
        *(*files, *trainings, *verdicts),
    ]
    return {"@context": f"{SPECIFICATION}/context", "@graph": graph}


def entity(name: str, kind: str, /, **properties: Any) -> Entity:
    return {"@id": name, "@type": kind, **properties}


def link(name: str | Path) -> Entity:
    return {"@id": str(name)}


def inside(run: Run) -> Path:
    """The run file, relative to the folder of its scale."""
    return run.path.relative_to(run.scale)


def name_files(runs: Mapping[Run, Mapping[str, Any]]) -> dict[str, str]:
    """What to call pages and tables, the files of each run, and the model cards, by their paths."""
    names = {name: name for name in ("report.html", "claims.md", *TABLES)}
    for run, metadata in runs.items():
        who = f"{algorithm_name(run.algorithm)} on {run.environment}"
        kinds = {".csv": "evaluations", ".json": "settings and provenance"}
        if has_agent(metadata):
            kinds[".npz"] = "trained agent"
            names[inside(run).with_name(CARD).as_posix()] = f"Model card of {who}"
        for suffix, what in kinds.items():
            path = inside(run).with_suffix(suffix).as_posix()
            names[path] = f"{who}, seed {run.seed}: {what}"
    return names


def training_entities(runs: Mapping[Run, Mapping[str, Any]]) -> Iterator[Entity]:
    """One training per commit: the code, and the run files that it made."""
    made: dict[str, list[Entity]] = {}
    for run, metadata in runs.items():
        made.setdefault(commit_of(metadata) or "unknown", []).append(link(inside(run)))
    for commit, files in sorted(made.items()):
        code, name = f"#code-{commit[:12]}", f"powr and its suite at commit {commit}"
        # Without an address it can be neither SoftwareApplication nor SoftwareSourceCode.
        yield entity(code, "CreativeWork", name=name, version=commit, license=link(LICENSE))
        name, training = f"Training of {len(files)} runs", f"#training-{commit[:12]}"
        yield entity(training, "CreateAction", name=name, instrument=link(code), result=files)


def verdict_entity(entry: Judged, document: Mapping[str, Any]) -> Entity:
    claim, against, reason = entry.claim, entry.against, entry.outcome.reason
    rule = document["rules"][claim["rule"]]
    whose = f", {document['sets'][against]['name']}" if against else ""
    return entity(
        f"#verdict-{claim['id']}" + (f"-{against}" if against else ""),
        "ClaimReview",
        name=f"{entry.outcome.verdict}{whose}",
        claimReviewed=claim["claim"],
        reviewBody=entry.outcome.verdict + (f": {reason}" if reason else ""),
        creativeWorkStatus="preliminary" if entry.preliminary else "final",
        measurementTechnique=f"{rule['statistic']} {rule['decision']}",
        isBasedOn=[link("claims.csv"), *(link(inside(run)) for run in entry.runs)],
        **({"itemReviewed": link(PAPER)} if claim.get("quote") else {}),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("crate", __doc__, "--scale", "--envs", "--claims", "--results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        text = json.dumps(describe(options), indent=1, ensure_ascii=False) + "\n"
        return {options.results / options.scale / NAME: text}

    return write_result(parser.prog, make)
