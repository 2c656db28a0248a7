# The paper's figures and verdicts: train -> aggregate -> figures, claims -> report.
#
#   snakemake --cores 8                              the paper scale
#   snakemake --cores 8 --config scale=quick         another scale of envs.yaml
#   snakemake --cores 8 --config study=mine.yaml     a study of your own
#   snakemake --cores 8 --config partial=true        no training, the figures of finished runs
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
from suite.config import check_model, load
from suite.config.models import AUTHORS, MULTIVERSE, Workflow
from suite.config.reading import content_of
from suite.failures import check_room, failure_summary, mark_running

min_version("9.0")

# Jobs run with the Python that runs snakemake, also where its environment is not activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.environ.get('PATH')}")
os.environ.pop("PYTHONSAFEPATH", None)  # it hides `suite` from `python -m suite`

# A mistake in --config or in the study is one line, without the traceback of this file.
try:
    SETTINGS = check_model(config, Workflow, "--config")
    STUDY = load(SETTINGS.study)
    SCALE, PARTIAL = SETTINGS.scale or STUDY.default_scale, SETTINGS.partial
    check_room(STUDY.folder)
    RUNS = STUDY.run_files(SCALE, finished=PARTIAL)
except SuiteError as error:
    sys.exit(f"snakemake: {error}")
if workflow.is_main_process:  # not a job on a cluster
    RUNNING = mark_running(Path(".snakemake"))
RESULTS = STUDY.results / SCALE
FIGURES = STUDY.folder / "figures" if SCALE == "paper" else RESULTS / "figures"
SHOWN = ("training_curves", "threshold_boxplots", "ranking")  # the figures of a scale
ANSWER = ["answer"] if STUDY.replication else []  # the README's picture
LOGS = STUDY.folder / "logs"
OF_STUDY = ["--envs", str(STUDY.path)]
PARTIALLY = ["--partial"] if PARTIAL else []

# The paper's figures once more, where algorithms have the settings of its authors.
AUTHORS_FIGURES = [
    FIGURES / f"{name}_authors.pdf"
    for name in ("training_curves", "threshold_boxplots")
    if STUDY.replication and STUDY.has_settings_of(AUTHORS, SCALE)
]

# The agents of seed 0 are shown in pictures.
AGENTS = STUDY.agents(SCALE, finished=PARTIAL)

# What draws figures, and what makes tables: the rest of the suite, and powr, with which it computes
# exact returns and checks theorems.
PLOTS = sorted(Path("suite/plots").glob("*.*"))
CODE = sorted(
    path
    for path in [*Path("suite").rglob("*.py"), *Path("powr").rglob("*.py")]
    if "plots" not in path.parts
)
RUN_TABLES = ("evaluations", "runs", "training")  # of every scale
TABLES = (*RUN_TABLES, "curves", "summary", "ranking", "cost", "origins")
VERDICTS = ("cells", "comparisons", "sentences", "sensitivity", "theory")


wildcard_constraints:
    seed=r"\d+",
    digest="[0-9a-f]{12}",


onstart:
    # Signals are handled in the main thread. Snakemake's handler of SIGTERM waits there for a lock that
    # the main thread may hold, a deadlock: run it in a new thread. threading.Thread would take locks, too.
    stop = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: _thread.start_new_thread(stop, ()))
    if not PARTIAL:
        shell("python -m suite check --scale {SCALE:q} --envs {STUDY.path:q}")


onerror:
    print(failure_summary(Path(log[0]).read_text()), file=sys.stderr)


# Verdicts and their report are of a study that replicates the paper.
rule all:
    input:
        runs=RUNS,
        summary=RESULTS / "summary.md",
        figures=[FIGURES / f"{name}.pdf" for name in [*SHOWN, *ANSWER]],
        authors=AUTHORS_FIGURES,
        verdicts=(
            [RESULTS / "claims.md", RESULTS / "report.html"]
            if STUDY.replication
            else []
        ),
    localrule: True
    message:
        "{rule}: {RESULTS}"


include: "rules/benchmark.smk"
include: "rules/theory.smk"
include: "rules/multiverse.smk"
