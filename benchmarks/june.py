"""POWR on MountainCar-v0 with the authors' settings of June 2024: time, memory, and `predict`.

And one fit with one step on a million transitions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks import growth
from benchmarks.measure import MIB, Table, in_own_process, spreads, timed
from powr import POWR
from powr.kernels import Gaussian
from suite.training.provenance import peak_memory_bytes

SEED = 1000  # a development seed
CALLS = 2000  # of predict


def tables(quick: bool, repeats: int) -> list[Table]:
    timesteps = (1000, 2000) if quick else (3000, 30_000)
    n, rank = (4000, 100) if quick else (1_000_000, 500)
    rows = [
        {"timesteps": n, **spreads([in_own_process("benchmarks.june:train", n) for _ in range(r)])}
        for n, r in zip(timesteps, (repeats, 1), strict=True)
    ]
    return [
        Table(
            "june",
            f"POWR on MountainCar-v0, Gaussian (0.1, 0.01), one episode per epoch, seed {SEED}",
            rows,
            "Without evaluation. Predict: one observation, deterministic.",
        ),
        Table("million", "One fit and one step, Nystrom", large_fits(n, rank)),
    ]


def train(timesteps: int) -> dict[str, float]:
    with threadpoolctl.threadpool_limits(1):
        agent = POWR("MountainCar-v0", kernel=Gaussian([0.1, 0.01]), seed=SEED)
        seconds, _ = timed(lambda: agent.learn(timesteps))
        peak = peak_memory_bytes()
        states = agent.data.columns()[0]
        observations = states[np.linspace(0, len(states) - 1, CALLS).astype(int)]
        predicting, _ = timed(
            lambda: [agent.predict(each, deterministic=True) for each in observations]
        )
    return {
        "rank": agent.model_.rank_ if agent.model_ else 0,
        "epochs": agent.n_plans_,
        "seconds": seconds,
        "peak MiB": peak / MIB,
        "predict, us": 1e6 * predicting / CALLS,
    }


def large_fits(n: int, rank: int) -> list[dict[str, Any]]:
    """A fit and a step on an eighth of the data and on all; the exponent between them."""
    points = growth.measure((n // 8, n), rank, steps=1, repeats=1)
    exponents = [None, math.log(points[1]["seconds"] / points[0]["seconds"], 8)]
    return [
        {column: point[column] for column in ("n", "rank", "seconds", "peak MiB")}
        | {"exponent": exponent}
        for point, exponent in zip(points, exponents, strict=True)
    ]
