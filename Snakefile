# The paper's figures and verdicts: train -> aggregate -> figures, claims, cost -> report.
#
#   snakemake --cores 8                          the paper scale
#   snakemake --cores 8 --config scale=quick     another scale of envs.yaml
#   snakemake --cores 8 --config partial=true    no training, the figures of the runs there are
#
# A run file's name carries the digest of the run's settings, so a run is finished if the file of
# that name exists; file times do not matter. Files of other settings have other names.

import _thread
import os
import re
import signal
import sys
from pathlib import Path

from snakemake.utils import min_version

from suite import SuiteError
from suite.config import check_model, load, runs, universes, variant_runs
from suite.config.kinds import AUTHORS, POWR, kind_of
from suite.config.models import Workflow
from suite.failures import last_words
from suite.training.run import saves_agent

min_version("9.0")

# Jobs run with the Python that runs snakemake, also where its environment is not activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.environ.get('PATH')}")

# A mistake in --config or envs.yaml is one line, without the traceback of this file.
try:
    SETTINGS = check_model(config, Workflow, "--config")
    STUDY = load("envs.yaml")
    runs(STUDY, SETTINGS.scale)
except SuiteError as error:
    sys.exit(f"snakemake: {error}")
SCALE, PARTIAL = SETTINGS.scale, SETTINGS.partial
RESULTS = f"results/{SCALE}"
FIGURES = "figures" if SCALE == "paper" else f"{RESULTS}/figures"
SHOWN = ("training_curves", "threshold_boxplots", "ladder")  # the figures of a scale

RUNS = [Path("results", run.path) for run in runs(STUDY, SCALE)]
if PARTIAL:
    RUNS = [path for path in RUNS if path.exists()]

# The paper's figures once more, where algorithms have the settings of its authors.
AUTHORS_FIGURES = [
    f"{FIGURES}/{name}_authors.pdf"
    for name in ("training_curves", "threshold_boxplots")
    if any(
        STUDY["algorithms"][run.algorithm]["source"]["kind"] == AUTHORS
        for run in runs(STUDY, SCALE)
    )
]

# Names of the algorithms whose runs leave a trained agent beside them.
SAVES_AGENT = "|".join(
    re.escape(name)
    for name, entry in STUDY["algorithms"].items()
    if saves_agent(entry["class"])
)

# Those of seed 0 are shown in pictures.
AGENTS = {
    run.environment: Path("results", run.path).with_suffix(".npz")
    for run in runs(STUDY, SCALE)
    if run.seed == 0 and kind_of(STUDY["algorithms"][run.algorithm]) == POWR
}
if PARTIAL:
    AGENTS = {env: path for env, path in AGENTS.items() if path.exists()}

# What draws figures, and what makes tables: the rest of the suite, and powr, with which it computes
# exact returns and checks theorems.
PLOTS = sorted(Path("suite/plots").glob("*.py"))
CODE = sorted(
    path
    for path in [*Path("suite").rglob("*.py"), *Path("powr").rglob("*.py")]
    if "plots" not in path.parts
)


wildcard_constraints:
    seed=r"\d+",
    digest="[0-9a-f]{12}",


onstart:
    # Signals are handled in the main thread. Snakemake's handler of SIGTERM waits there for a lock that
    # the main thread may hold, a deadlock: run it in a new thread. threading.Thread would take locks, too.
    stop = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: _thread.start_new_thread(stop, ()))
    shell("python -m suite check --scale {SCALE:q}")


onerror:
    print(last_words(Path(log[0]).read_text()), file=sys.stderr)


rule all:
    input:
        runs=RUNS,
        summary=f"{RESULTS}/summary.md",
        figures=[f"{FIGURES}/{name}.pdf" for name in SHOWN],
        authors=AUTHORS_FIGURES,
        claims=f"{RESULTS}/claims.md",
        cost=f"{RESULTS}/cost.csv",
        report=f"{RESULTS}/report.html",
    localrule: True
    message:
        "{rule}: done"


include: "rules/benchmark.smk"
include: "rules/theory.smk"
include: "rules/ablations.smk"
include: "rules/multiverse.smk"
