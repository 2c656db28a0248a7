"""The study that envs.yaml, or a file of one's own, describes: checked, typed, and its runs."""

from __future__ import annotations

import sys
from pathlib import Path

import baselines
from suite.config.models import ABLATIONS as ABLATIONS
from suite.config.models import MULTIVERSE as MULTIVERSE
from suite.config.models import Combination as Combination
from suite.config.models import Run as Run
from suite.config.models import Study as Study
from suite.config.models import digest as digest
from suite.config.reading import check_known as check_known
from suite.config.reading import check_model as check_model
from suite.config.reading import check_unique as check_unique
from suite.config.reading import read_yaml as read_yaml

# Algorithms as the paper and the textbooks print them; `load` adds the names that a study gives.
NAMES = {
    "rmax": "R-max",
    "rmax-cautious": "R-max, cautious",
    "dyna-q": "Dyna-Q",
    "optimistic-q": "optimistic Q",
    "sarsa-lambda": "SARSA(\N{GREEK SMALL LETTER LAMDA})",
    "cme-value-iteration": "CME value iteration",
    "random-play": "random play",
    "dqn-zoo-control": "DQN, zoo",
}


def load(path: str | Path) -> Study:
    """Read and check a study. Modules in its folder can be imported from then on."""
    study = check_model(read_yaml(path), Study, path)
    study._path = Path(path)
    folder = study.path.parent.resolve()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    baselines.register(study.classes, folder)
    NAMES.update({key: block.name for key, block in study.algorithms.items() if block.name})
    return study


def algorithm_name(key: str) -> str:
    """POWR for powr; DQN, zoo for dqn-zoo: what stands before the first hyphen is a name."""
    name, _, variant = key.partition("-")
    return NAMES.get(key) or name.upper() + (f", {variant}" if variant else "")
