"""POWR on MountainCar-v0 with the authors' settings of June 2024: time, memory, and `predict`.

And one fit with one step on a million transitions.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks.growth import MIB, POINT
from benchmarks.measure import Spread, in_own_process, timed
from benchmarks.mountain_car import explore
from benchmarks.table import Table
from powr import POWR
from powr.kernels import Gaussian
from suite.training.provenance import peak_memory_bytes

NAME = "june"
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
            NAME,
            f"POWR on MountainCar-v0, Gaussian (0.1, 0.01), one episode per epoch, seed {SEED}",
            rows,
            ("Without evaluation. Predict: one observation, deterministic.",),
        ),
        Table("million", "One fit and one step, Nystrom", list(large_fits(n, rank))),
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


def spreads(rounds: list[dict[str, float]]) -> dict[str, Any]:
    return {key: Spread.of(each[key] for each in rounds) for key in rounds[0]}


def large_fits(n: int, rank: int) -> list[dict[str, Any]]:
    """A fit and a step on an eighth of the data and on all; the exponent between them."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, **explore(n)._asdict())
        points = [in_own_process(POINT, str(data), size, rank, 1) for size in (n // 8, n)]
    seconds = [point["total_seconds"] for point in points]
    exponents = [None, float(np.log(seconds[1] / seconds[0]) / np.log(8))]
    return [
        {
            "n": size,
            "rank": point["rank"],
            "seconds": point["total_seconds"],
            "exponent": exponent,
            "peak MiB": point["peak_bytes"] / MIB,
            "MiB of the data": point["base_bytes"] / MIB,
        }
        for size, point, exponent in zip((n // 8, n), points, exponents, strict=True)
    ]
