"""Hand-written run files for the tests: a small study and the means of each run."""

import copy
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suite import config
from suite.training.evaluation import COLUMNS

ROOT = Path(__file__).parents[2]
DEFAULTS = {"kind": "library defaults"}
JUNE = {"kind": "authors' probable settings", "repository": "x", "commit": "0123456"}
RAW = {
    "environments": {
        "FrozenLake-v1": {
            "id": "FrozenLake-v1",
            "kwargs": {"map_name": "4x4", "is_slippery": False},
            "thresholds": [0.8],
        },
        "MountainCar-v0": {"id": "MountainCar-v0", "kwargs": {}, "thresholds": [-110, -100]},
    },
    "algorithms": {
        "powr": {"class": "powr", "revision": 1, "source": JUNE, "settings": {}},
        "dqn": {
            "class": "dqn",
            "revision": 1,
            "source": DEFAULTS,
            "policy": "MlpPolicy",
            "settings": {},
        },
    },
    "evaluation": {"episodes": 20, "first": 100, "per_decade": 1},
    "scales": {
        "tiny": {
            "seeds": 3,
            "algorithms": ["powr", "dqn"],
            "timesteps": {"FrozenLake-v1": 5000, "MountainCar-v0": 5000},
            "overrides": {"powr": {"MountainCar-v0": 1000}},
        }
    },
}


def set_in(values: Any, path: Sequence[str | int], value: Any) -> None:
    """Change one value of a file, below these keys."""
    *parents, last = path
    for key in parents:
        values = values[key] if isinstance(values, list) else values.setdefault(key, {})
    values[last] = value


def study_of(values: dict) -> config.Study:
    return config.check_model(copy.deepcopy(values), config.Study, "envs.yaml")


STUDY = study_of(RAW)
PROVENANCE = {
    "git": {"commit": "0123456789abcdef", "clean": True},
    "python": "3.11.9",
    "platform": "Linux x86_64",
    "cpu": "a processor",
    "packages": {"numpy": "2.4.6"},
    "thread_pools": [],
}


def run_of(environment: str, algorithm: str, seed: int, study=STUDY) -> config.Run:
    return study.combination("tiny", environment, algorithm).run(seed)


def csv_text(
    means: dict[int, float],
    exact: float | None = None,
    sampled: float | str = "",
    samples: bool = False,
) -> str:
    """A run file; `exact` is by how much the exact return exceeds the mean, if there is one.

    The sampled policy has one return, or none, or if it `samples` the returns of the greedy one.
    """
    lines = [",".join(COLUMNS)]
    for timestep, mean in means.items():
        exact_return = "" if exact is None else mean + exact
        of_sampled = [mean, exact_return] if samples else [sampled, ""]
        cells = [timestep, mean, 0.5, mean - 1, mean + 1, 20, exact_return, *of_sampled]
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def clock(means: dict[int, float], seconds_a_step: float, evaluation_seconds: float) -> dict:
    """What the JSON of a run says about time and memory."""
    times = [
        {
            "timestep": timestep,
            "seconds": timestep * seconds_a_step + place * evaluation_seconds,
            "evaluation_seconds": evaluation_seconds,
        }
        for place, timestep in enumerate(means, start=1)
    ]
    return {
        "evaluations": times,
        "duration_seconds": times[-1]["seconds"],
        "peak_memory_bytes": 100_000_000,
    }


def write_run(
    results: Path,
    run: config.Run,
    text: str,
    provenance=PROVENANCE,
    study=STUDY,
    settings=None,
    **more,
) -> Path:
    """The run file and the JSON that vouches for it, with `more` in it.

    Its settings are those of the study's scale, and its times those of a run that trains 10 steps
    a second, unless they are given.
    """
    path = results / run.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    if settings is None:
        settings = study.combination(run.scale, run.environment, run.algorithm).settings
    if not more:
        timesteps = [int(line.partition(",")[0]) for line in text.splitlines()[1:]]
        more = clock(dict.fromkeys(timesteps, 0.0), 0.1, 1.0)
    document = {
        "settings": {**settings, "seed": run.seed},
        "digest": run.digest,
        "csv_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "provenance": provenance,
        **more,
    }
    path.with_suffix(".json").write_text(json.dumps(document), encoding="utf-8")
    return path
