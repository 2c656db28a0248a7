"""ro-crate-metadata.json: each verdict with its rule, runs, code and figures, for machines.

An RO-Crate 1.3 (https://w3id.org/ro/crate/1.3) whose root is the folder of a scale. The words are
those of schema.org: a verdict is a ClaimReview of a Claim, a training is a CreateAction.

    python -m suite crate --scale paper --figures figures/training_curves.svg
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from suite import config
from suite.claims import ledger
from suite.claims.ledger import Judged
from suite.claims.page import Group, group_of
from suite.claims.verdicts import BEYOND, THEORY_VERDICTS, VERDICTS
from suite.command import make_parser, write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.release.cards import CARD, commit_of, has_agent
from suite.release.manifest import checksum
from suite.report.report import TABLES
from suite.results import aggregate

NAME = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.3"
LICENSE = "https://spdx.org/licenses/MIT"
PAPER = "https://arxiv.org/abs/2406.19861"
TITLE = "Operator World Models for Reinforcement Learning"
AUTHORS = "#contributors"
PAGES = ("report.html", "claims.md")
# Types that Python's table of a system may or may not know.
TYPES = {".md": "text/markdown", ".npz": "application/zip", ".svg": "image/svg+xml"}

Entity = dict[str, Any]


def describe(options: argparse.Namespace) -> Entity:
    """The whole crate."""
    folder = options.results / options.scale
    study, document = config.load(options.envs), ledger.load(options.claims)
    loaded = aggregate.load_runs(study, options.scale, options.results, partial=True)
    judged = ledger.read_judged(folder / "claims.csv", document, loaded)
    runs = loaded.metadata
    files = list(file_entities(folder, runs))
    figures = [figure_entity(path) for path in options.figures]
    trainings = list(training_entities(runs))
    verdicts = [verdict_entity(entry, document["sets"], figures) for entry in judged]
    root = entity(
        "./",
        "Dataset",
        name=f"Replication of {TITLE}, scale {options.scale}",
        description=(
            f"{len(runs)} training runs, the tables and figures made of them, and the verdict on "
            "each claim of the paper with what it rests on."
        ),
        # When the last run began: the same whenever the crate is made again.
        datePublished=max(metadata["started"] for metadata in runs.values()),
        license=link(LICENSE),
        author=link(AUTHORS),
        about=link(PAPER),
        hasPart=[link(each["@id"]) for each in files],
        mentions=[link(each["@id"]) for each in (*verdicts, *trainings)],
    )
    descriptor = entity(NAME, "CreativeWork", about=link("./"), conformsTo=link(SPECIFICATION))
    contexts = [*context_entities(document, judged), *figures, *trainings, *verdicts]
    graph = [descriptor, root, *files, *contexts]
    return {"@context": f"{SPECIFICATION}/context", "@graph": graph}


def entity(name: str, kind: str, /, **properties: Any) -> Entity:
    return {"@id": name, "@type": kind, **properties}


def link(name: str | Path) -> Entity:
    return {"@id": str(name)}


def file_entities(folder: Path, runs: Mapping[Run, Mapping[str, Any]]) -> Iterator[Entity]:
    """Tables and pages, then the files of each run, then the model cards."""
    named = {name: f"{name} of the scale {folder.name}" for name in (*PAGES, *TABLES)}
    cards = {}
    for run, metadata in runs.items():
        who = f"{algorithm_name(run.algorithm)} on {run.environment}"
        kinds = {".csv": "evaluations", ".json": "settings and provenance"}
        if has_agent(metadata):
            kinds[".npz"] = "trained agent"
            cards[inside(run).with_name(CARD).as_posix()] = f"Model card of {who}"
        for suffix, what in kinds.items():
            path = inside(run).with_suffix(suffix).as_posix()
            named[path] = f"{who}, seed {run.seed}: {what}"
    for path, name in {**named, **cards}.items():
        content = (folder / path).read_bytes()
        yield entity(
            path,
            "File",
            name=name,
            encodingFormat=media_type(path),
            contentSize=str(len(content)),
            sha256=hashlib.sha256(content).hexdigest(),
        )


def inside(run: Run) -> Path:
    """The run file, relative to the folder of its scale."""
    return run.path.relative_to(run.scale)


def media_type(path: str) -> str:
    return TYPES.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "text/plain"


def figure_entity(path: Path) -> Entity:
    """A figure lies outside the crate's folder, and inlined in the report."""
    return entity(
        f"#figure-{path.stem}",
        "ImageObject",
        name=path.as_posix(),
        encodingFormat=media_type(path.name),
        sha256=checksum(path),
        isPartOf=link("report.html"),
    )


def context_entities(document: Mapping[str, Any], judged: Sequence[Judged]) -> Iterator[Entity]:
    """Paper, licence, authors, claims, rules and all verdicts there are."""
    yield entity(PAPER, "ScholarlyArticle", name=TITLE, url=PAPER)
    use = "Free use with the notice of copyright."
    yield entity(LICENSE, "CreativeWork", name="MIT License", identifier=LICENSE, description=use)
    yield entity(AUTHORS, "Organization", name="The contributors of this replication", url=PAPER)
    for verdict in dict.fromkeys((*VERDICTS, *THEORY_VERDICTS, *BEYOND.values())):
        yield entity(rating_id(verdict), "Rating", name=verdict, ratingValue=verdict)
    for name in dict.fromkeys(entry.claim["rule"] for entry in judged):
        rule = document["rules"][name]
        description = f"Statistic: {rule['statistic']} Decision: {rule['decision']}"
        yield entity(f"#rule-{name}", "DefinedTerm", name=name, description=description)
    for claim in document["claims"]:
        quoted, said = claim.get("quote"), claim["claim"]
        source = {"appearance": link(PAPER)} if quoted else {}
        yield entity(f"#claim-{claim['id']}", "Claim", name=said, text=quoted or said, **source)


def training_entities(runs: Mapping[Run, Mapping[str, Any]]) -> Iterator[Entity]:
    """One training per commit: the code, and the run files that it made."""
    made: dict[str, list[Entity]] = {}
    for run, metadata in runs.items():
        made.setdefault(commit_of(metadata), []).append(link(inside(run)))
    for commit, files in sorted(made.items()):
        code, version = f"#code-{commit[:12]}", commit or "unknown"
        name = f"powr and its suite at commit {version}"
        # Without an address it can be neither SoftwareApplication nor SoftwareSourceCode.
        yield entity(code, "CreativeWork", name=name, version=version, license=link(LICENSE))
        name, training = f"Training of {len(files)} runs", f"#training-{commit[:12]}"
        yield entity(training, "CreateAction", name=name, instrument=link(code), result=files)


def rating_id(verdict: str) -> str:
    return f"#{verdict.replace(' ', '-')}"


def verdict_entity(entry: Judged, sets: Mapping[str, Any], figures: Sequence[Entity]) -> Entity:
    against, reason = entry.against, entry.outcome.reason
    whose = f", {sets[against]['name']}" if against else ""
    # A theorem is in the figure of the theory, every other claim in those of the runs.
    of_theory = group_of(entry.claim) == Group.THEORY
    shown = [each["@id"] for each in figures if (each["@id"] == "#figure-theory") == of_theory]
    return entity(
        f"#verdict-{entry.claim['id']}" + (f"-{against}" if against else ""),
        "ClaimReview",
        name=f"{entry.outcome.verdict}{whose}",
        claimReviewed=entry.claim["claim"],
        itemReviewed=link(f"#claim-{entry.claim['id']}"),
        reviewRating=link(rating_id(entry.outcome.verdict)),
        creativeWorkStatus="preliminary" if entry.preliminary else "final",
        measurementTechnique=link(f"#rule-{entry.claim['rule']}"),
        isBasedOn=[link("claims.csv"), *(link(inside(run)) for run in entry.runs)],
        associatedMedia=[link(name) for name in shown],
        **({"description": reason} if reason else {}),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("crate", __doc__, "--scale", "--envs", "--claims", "--results")
    parser.add_argument("--figures", type=Path, nargs="+", required=True, help="SVGs of the report")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        text = json.dumps(describe(options), indent=1, ensure_ascii=False) + "\n"
        return {options.results / options.scale / NAME: text}

    return write_result(parser.prog, make)
