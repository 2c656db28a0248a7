"""Do the shipped results follow from the shipped run files, and the run files from the code?

In a scratch copy of the repository the workflow makes every table, figure, verdict and report of
the paper scale again, which must be the shipped bytes, and trains some runs again. A run must be
identical on the versions and the processor that it was first trained on, and elsewhere within the
spread over seeds.

    python -m suite verify
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import powr
from powr.storage.agents import algorithm_of
from suite import SuiteError
from suite.command import make_parser
from suite.release import manifest
from suite.release.agreement import DIFFERS, IDENTICAL, judge_run

RESULTS = manifest.MANIFEST.parent
RUN_FILE = re.compile(r"seed\d+-[0-9a-f]{12}\.(csv|json|npz|benchmark\.tsv)")
SOURCES = (
    *("Snakefile", "envs.yaml", "claims.yaml", "deviations.yaml", "environment.yml"),
    *("rules", "profiles", "suite", "powr", "baselines"),
)
# What files that are not as a run wrote them raise where they are read.
MALFORMED = (ValueError, LookupError, TypeError, zipfile.BadZipFile)
CHEAP = (
    *("FrozenLake-v1/powr/*", "MountainCar-v0/powr/seed0-*"),
    *("FrozenLake-v1/optimistic-powr/*", "MountainCar-v0/optimistic-powr/seed0-*"),
    *("FrozenLake-v1/rmax/seed0-*", "FrozenLake-v1/a2c-authors/seed0-*"),
)


class Line(NamedTuple):
    """What was found about one file or run."""

    finding: str
    subject: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.finding}: {self.subject}" + (f" ({self.detail})" if self.detail else "")


def check_files(root: Path) -> Iterator[Line]:
    """The manifest, and each agent against the JSON of the run that trained it."""
    listed, faults = manifest.read(root), manifest.faults(root)
    yield from (Line(DIFFERS, name, fault) for name, fault in faults.items())
    yield Line(IDENTICAL, f"{len(listed) - len(faults)} of {len(listed)} files", "manifest")
    for name in sorted(listed.keys() - faults.keys()):
        if name.endswith(".npz") and (fault := agent_fault(root / name)):
            yield Line(DIFFERS, name, fault)


def agent_fault(path: Path) -> str:
    """Why an agent is not the one that its run saved; empty if it is."""
    try:
        recorded = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if manifest.checksum(path) != recorded["agent_sha256"]:
            return "is not the agent that its run saved by agent_sha256 in the .json beside it"
        getattr(powr, algorithm_of(path)).load(path)
    except (OSError, AttributeError, *MALFORMED) as error:
        return f"cannot be loaded, or the .json beside it cannot be read: {error!r}"
    return ""


def copy_sources(root: Path, scratch: Path, run_files: Iterable[str]) -> None:
    """All that the workflow needs, and none of what it makes."""
    for name in SOURCES:
        if (root / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / name, scratch / name, ignore=ignored)
        else:
            shutil.copy(root / name, scratch / name)
    for name in (*run_files, *made_elsewhere(root)):
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, scratch / name)


def made_elsewhere(root: Path) -> list[str]:
    """What is not of the paper scale: the report shows it, nothing makes it again."""
    found = [*root.glob("figures/*.svg"), *root.glob("results/multiverse/*.*")]
    names = {path.relative_to(root).as_posix() for path in found}
    return sorted(names - set(manifest.shipped(root)))


def make(scratch: Path, targets: Sequence[str], cores: int) -> Iterator[Line]:
    """Let the workflow make these files, or as many as it can, from the runs that are there."""
    command = [sys.executable, "-m", "snakemake", "--keep-going", "--cores", str(cores)]
    command += ["--config", "scale=paper", "partial=true", "--", *targets]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        yield Line(DIFFERS, "the workflow", f"failed in {scratch}:\n{done.stderr[-4000:]}")


def compare_files(root: Path, scratch: Path, names: Iterable[str]) -> Iterator[Line]:
    for name in names:
        if not (scratch / name).exists():
            yield Line(DIFFERS, name, "was not made here")
            continue
        shipped, made = (root / name).read_bytes(), (scratch / name).read_bytes()
        if shipped == made:
            yield Line(IDENTICAL, name)
        else:
            yield Line(DIFFERS, name, first_difference(shipped, made))


def first_difference(shipped: bytes, made: bytes) -> str:
    try:
        lines = [content.decode().splitlines() for content in (shipped, made)]
    except UnicodeDecodeError:
        return f"{len(shipped)} bytes shipped, {len(made)} made here"
    for number, (old, new) in enumerate(zip(*lines, strict=False), start=1):
        if old != new:
            pairs = enumerate(zip(old, new, strict=False))
            same = next((i for i, (one, other) in pairs if one != other), min(len(old), len(new)))
            start = max(0, same - 20)
            old, new = (line[start : start + 80] for line in (old, new))
            return f"line {number}, from character {start + 1}: {old!r}, here {new!r}"
    return f"{len(lines[0])} lines shipped, {len(lines[1])} made here"


def retrain(root: Path, scratch: Path, runs: Sequence[str], cores: int) -> Iterator[Line]:
    """Train runs again in the scratch folder and compare them with the shipped ones."""
    for name in runs:
        for path in (scratch / name).parent.glob(f"{Path(name).stem}.*"):
            path.unlink()
    yield from make(scratch, runs, cores)
    for name in runs:
        seeds = sorted((root / name).parent.glob(f"seed*-{Path(name).stem.partition('-')[2]}.csv"))
        try:
            finding, detail = judge_run(root / name, scratch / name, seeds)
        except (OSError, *MALFORMED) as error:
            finding, detail = DIFFERS, f"cannot be compared: {error!r}"
        yield Line(finding, name, detail)


def choose(listed: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The listed run files that match a pattern."""
    chosen = []
    for pattern in patterns:
        found = [name for name in sorted(listed) if Path(name).match(f"{RESULTS}/{pattern}.csv")]
        if not found:
            print(f"not shipped: {pattern}")
        chosen += found
    return chosen


def verify(root: Path, scratch: Path, patterns: Sequence[str], cores: int) -> Iterator[Line]:
    yield from check_files(root)
    listed = [name for name in manifest.read(root) if (root / name).is_file()]
    run_files = [name for name in listed if RUN_FILE.fullmatch(Path(name).name)]
    made = sorted(set(listed) - set(run_files))
    copy_sources(root, scratch, run_files)
    print(f"making {len(made)} files again from {len(run_files)} run files", flush=True)
    yield from make(scratch, made, cores)
    yield from compare_files(root, scratch, made)
    runs = choose(listed, patterns)
    if runs:
        print(f"training {len(runs)} runs again", flush=True)
        yield from retrain(root, scratch, runs, cores)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("verify", __doc__)
    parser.add_argument(
        "--retrain",
        nargs="*",
        default=CHEAP,
        metavar="PATTERN",
        help=f"run files below {RESULTS} to train again (default: {' '.join(CHEAP)})",
    )
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="default: all")
    options = parser.parse_args(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="verify-"))
    found = []
    try:
        for line in verify(Path().absolute(), scratch, options.retrain, options.cores):
            print(line, flush=True)
            found.append(line.finding)
    except BrokenPipeError:
        shutil.rmtree(scratch)
        raise  # nobody reads on, which is no disagreement
    except (SuiteError, OSError) as error:
        print(f"python -m suite verify: {error}", file=sys.stderr)
        found.append(DIFFERS)
    if DIFFERS in found:
        print(f"python -m suite verify: {found.count(DIFFERS)} disagreements; made here: {scratch}")
        return 1
    shutil.rmtree(scratch)
    print("python -m suite verify: everything agrees")
    return 0
