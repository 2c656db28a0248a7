"""Do the shipped results follow from the shipped run files, and the run files from the code?

In a scratch copy of the repository the workflow makes every table, figure, verdict and report of
the paper scale again, which must be the shipped bytes, and trains some runs again. A run must be
identical on the versions and the processor that it was first trained on, and elsewhere within the
spread over seeds.

    python -m suite verify
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from suite.command import fail, make_parser
from suite.release.agreement import DIFFERS, IDENTICAL, judge_run

RESULTS = Path("results/paper")
SHIPPED = (
    f"{RESULTS}/**/*",
    "results/fixed-starts/**/*",
    "figures/answer.*",
    "figures/training_curves*.*",
    "figures/threshold_boxplots*.*",
    "figures/ranking.*",
    "figures/*.gif",
)
RUN_FILE = re.compile(r"seed\d+-[0-9a-f]{12}\.(csv|json|npz)")
SOURCES = (
    *("Snakefile", "envs.yaml", "claims.yaml", "deviations.yaml", "environment.yml"),
    *("rules", "profiles", "suite", "powr", "baselines"),
)
CHEAP = (
    *("FrozenLake-v1/powr/*", "MountainCar-v0/powr/seed0-*"),
    *("FrozenLake-v1/rmax/seed0-*", "FrozenLake-v1/a2c-authors/seed0-*"),
)
Finding = tuple[str, str, str]  # what was found, about which file or run, in what detail


def shipped(root: Path) -> list[str]:
    """The files of the paper scale, relative to the root."""
    found = (path for pattern in SHIPPED for path in root.glob(pattern) if path.is_file())
    return sorted(path.relative_to(root).as_posix() for path in found if path.name[0] != ".")


def verify(root: Path, scratch: Path, patterns: Sequence[str], cores: int) -> Iterator[Finding]:
    """All findings, in the order in which they are made."""
    listed = shipped(root)
    run_files = [name for name in listed if RUN_FILE.fullmatch(Path(name).name)]
    made = sorted(set(listed) - set(run_files))
    for name in run_files:
        if name.endswith(".npz"):
            run = json.loads((root / name).with_suffix(".json").read_text(encoding="utf-8"))
            if hashlib.sha256((root / name).read_bytes()).hexdigest() != run["agent_sha256"]:
                yield DIFFERS, name, "is not the agent of agent_sha256 in the .json beside it"
    copy_sources(root, scratch, run_files)
    print(f"making {len(made)} files again from {len(run_files)} run files", flush=True)
    yield from make(scratch, made, cores)
    for name in made:
        if not (scratch / name).exists():
            yield DIFFERS, name, "was not made here"
        elif (root / name).read_bytes() != (scratch / name).read_bytes():
            yield DIFFERS, name, f"see `diff {root / name} {scratch / name}`"
        else:
            yield IDENTICAL, name, ""
    runs = []
    for pattern in patterns:
        found = [name for name in listed if Path(name).match(f"{RESULTS}/{pattern}.csv")]
        if not found:
            print(f"not shipped: {pattern}")
        runs += found
    if runs:
        print(f"training {len(runs)} runs again", flush=True)
        yield from retrain(root, scratch, runs, cores)


def copy_sources(root: Path, scratch: Path, run_files: Iterable[str]) -> None:
    """All that the workflow needs, and none of what it makes."""
    for name in SOURCES:
        if (root / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / name, scratch / name, ignore=ignored)
        else:
            shutil.copy(root / name, scratch / name)
    # Figures and tables of other scales: the report shows them, and nothing makes them again.
    shown = [*root.glob("figures/*.svg"), *root.glob("results/multiverse/*.*")]
    others = {path.relative_to(root).as_posix() for path in shown} - set(shipped(root))
    for name in (*run_files, *others):
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, scratch / name)


def make(scratch: Path, targets: Sequence[str], cores: int) -> Iterator[Finding]:
    """Let the workflow make these files, or as many as it can, from the runs that are there."""
    command = [sys.executable, "-m", "snakemake", "--keep-going", "--cores", str(cores)]
    command += ["--config", "scale=paper", "partial=true", "--", *targets]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        yield DIFFERS, "the workflow", f"failed in {scratch}:\n{done.stderr[-4000:]}"


def retrain(root: Path, scratch: Path, runs: Sequence[str], cores: int) -> Iterator[Finding]:
    """Train runs again in the scratch folder and compare them with the shipped ones."""
    for name in runs:
        for path in (scratch / name).parent.glob(f"{Path(name).stem}.*"):
            path.unlink()
    yield from make(scratch, runs, cores)
    for name in runs:
        if not (scratch / name).exists():
            yield DIFFERS, name, "was not trained here"
            continue
        seeds = sorted((root / name).parent.glob(f"seed*-{Path(name).stem.partition('-')[2]}.csv"))
        finding, detail = judge_run(root / name, scratch / name, seeds)
        yield finding, name, detail


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
    root = Path().absolute()
    if not (root / RESULTS).is_dir():
        return fail(parser.prog, f"{RESULTS} is missing: run this in a clone of the repository")
    scratch = Path(tempfile.mkdtemp(prefix="verify-"))
    disagreements = 0
    try:
        for finding, subject, detail in verify(root, scratch, options.retrain, options.cores):
            print(f"{finding}: {subject}" + (f" ({detail})" if detail else ""), flush=True)
            disagreements += finding == DIFFERS
    except BrokenPipeError:
        shutil.rmtree(scratch)
        raise  # nobody reads on, which is no disagreement
    if disagreements:
        print(f"{parser.prog}: {disagreements} disagreements; made here: {scratch}")
        return 1
    shutil.rmtree(scratch)
    print(f"{parser.prog}: everything agrees")
    return 0
