"""Do the shipped results follow from the shipped run files, and the run files from the code?

In a scratch copy of the repository the workflow makes every table, figure, verdict and report of
the paper scale again, which must be the shipped bytes, and trains some runs again. On the versions
and the processor of the shipped run such a run must be identical to the last bit. Elsewhere sums
are rounded differently and training takes another course, so it must be like one more seed.

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
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from suite.command import fail, make_parser
from suite.results.run_file import Provenance, read_record

IDENTICAL, WITHIN, OPEN, DIFFERS = "identical", "within the spread", "open", "DIFFERS"
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
NOT_SOURCES = (".git", ".venv", ".snakemake", "logs", "site", "__pycache__")
CHEAP = (
    *("FrozenLake-v1/powr/*", "MountainCar-v0/powr/seed0-*"),
    *("FrozenLake-v1/rmax/seed0-*", "FrozenLake-v1/a2c-authors/seed0-*"),
)
Finding = tuple[str, str, str]  # what was found, about which file or run, in what detail


def verify(root: Path, scratch: Path, patterns: Sequence[str], cores: int) -> Iterator[Finding]:
    """All findings, in the order in which they are made."""
    listed = shipped(root)
    run_files = [name for name in listed if RUN_FILE.fullmatch(Path(name).name)]
    for name in run_files:
        if name.endswith(".npz"):
            content = hashlib.sha256((root / name).read_bytes()).hexdigest()
            if content != read_record(root / name).agent_sha256:
                yield DIFFERS, name, "is not the agent of agent_sha256 in the .json beside it"
    made = sorted(set(listed) - set(run_files))
    shutil.copytree(root, scratch, ignore=shutil.ignore_patterns(*NOT_SOURCES), dirs_exist_ok=True)
    for name in made:
        (scratch / name).unlink()
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
        matching = [name for name in listed if Path(name).match(f"{RESULTS}/{pattern}.csv")]
        if not matching:
            print(f"not shipped: {pattern}")
        runs += matching
    if runs:
        print(f"training {len(runs)} runs again", flush=True)
        yield from retrain(root, scratch, runs, cores)


def shipped(root: Path) -> list[str]:
    """The files of the paper scale, relative to the root."""
    files = (path for pattern in SHIPPED for path in root.glob(pattern) if path.is_file())
    return sorted(path.relative_to(root).as_posix() for path in files if path.name[0] != ".")


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


def judge_run(shipped: Path, trained: Path, seeds: Sequence[Path]) -> tuple[str, str]:
    """What a run trained again says of the shipped one; `seeds` are all shipped runs like it."""
    same_rows = shipped.read_bytes() == trained.read_bytes()
    agents = [path.with_suffix(".npz") for path in (shipped, trained)]
    has_agent = agents[1].exists()
    if same_rows and (not has_agent or agent_content(agents[0]) == agent_content(agents[1])):
        return IDENTICAL, "evaluations and agent" if has_agent else "evaluations"
    changes = changed_origin(*(read_record(path).provenance for path in (shipped, trained)))
    if not changes:
        what = "the agent" if same_rows else "an evaluation"
        return DIFFERS, f"{what} is another on the same versions and processor"
    if len(seeds) < 2:
        return OPEN, f"one seed has no spread; {changes}"
    score, *scores = map(mean_return, (trained, *seeds))
    low, high = min(scores), max(scores)
    # One more seed lies beyond those there are a quarter of the time, but not by their whole range.
    within = 2 * low - high <= score <= 2 * high - low
    detail = f"mean return {score:.3g}, over seeds {low:.3g} to {high:.3g}; {changes}"
    return (WITHIN if within else DIFFERS), detail


def agent_content(path: Path) -> object:
    """All but powr's version: another zlib compresses to other bytes."""
    with np.load(path) as archive:
        arrays = dict(archive)
    metadata = json.loads(str(arrays.pop("metadata"))) | {"version": None}
    return metadata, {name: (a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()}


def changed_origin(shipped: Provenance, here: Provenance) -> str:
    """How versions and processor differ from those of the shipped run; empty if they do not."""
    old, new = (
        {"python": each.python, "platform": each.platform, "cpu": each.cpu, **each.packages}
        for each in (shipped, here)
    )
    changes = [
        f"{key} {new[key]} for {old[key]}" for key in old if new.get(key, old[key]) != old[key]
    ]
    pools = [sorted(map(str, each.thread_pools)) for each in (shipped, here)]
    if pools[0] != pools[1]:
        changes.append("other libraries of linear algebra, or another processor")
    return ", ".join(changes)


def mean_return(path: Path) -> float:
    """Over log timesteps: the area under the run's curve."""
    table = pd.read_csv(path)
    log_time = np.log10(table["timestep"])
    return float(np.trapezoid(table["mean"], log_time) / np.ptp(log_time))


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
