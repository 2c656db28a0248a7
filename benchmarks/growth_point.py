"""One point of the growth curve, in a process of its own so that its memory is its own.

    python -m benchmarks.growth_point DATA.npz N RANK STEPS

prints as JSON the seconds of a fit and of a PMD step, those of the plain matrix product that a step
is made of, and the peak memory, without the product and before anything was fitted.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import threadpoolctl

from benchmarks.measure import timed
from benchmarks.mountain_car import N_ACTIONS, Transitions
from powr.kernels import Exponential
from powr.mirror_descent import mirror_descent
from powr.world_model import WorldModel
from suite.training.provenance import peak_memory_bytes

KERNEL = Exponential([0.6, 0.06])
GAMMA = 0.99
REGULARIZATION = 1e-6
CHUNK = 2048  # rows of one product: large enough for BLAS to run at full speed


def new_model(rank: int) -> WorldModel:
    """A low-rank model with exactly `rank` dictionary points, if there are as many states."""
    return WorldModel(
        KERNEL,
        N_ACTIONS,
        regularization=REGULARIZATION,
        method="low_rank",
        tolerance=0.0,
        max_rank=rank,
    )


def descend(model: WorldModel, steps: int) -> None:
    uniform = np.zeros((len(model.states_), N_ACTIONS))
    mirror_descent(model, uniform, steps=steps, step_size=1.0, gamma=GAMMA)


def product_seconds(n: int, rank: int) -> float:
    """Seconds of Z'[pi_1 Z' ... pi_A Z'], n rank^2 |A| multiply-adds, in chunks of rows."""
    rng = np.random.default_rng(0)
    left = rng.standard_normal((CHUNK, rank))
    right = rng.standard_normal((CHUNK, N_ACTIONS * rank))
    product = np.zeros((rank, N_ACTIONS * rank))

    def multiply() -> None:
        for start in range(0, n, CHUNK):
            rows = slice(min(CHUNK, n - start))
            np.matmul(left[rows].T, right[rows], out=product)

    return timed(multiply)[0]


def measure(data: Transitions, rank: int, steps: int) -> dict[str, float]:
    base = peak_memory_bytes()
    model = new_model(rank)
    fit_seconds, _ = timed(lambda: model.fit(*data))
    descent_seconds, _ = timed(lambda: descend(model, steps))
    peak = peak_memory_bytes()
    return {
        "states": len(model.states_),
        "rank": model.rank_,
        "fit_seconds": fit_seconds,
        "step_seconds": descent_seconds / steps,
        "total_seconds": fit_seconds + descent_seconds,
        "product_seconds": product_seconds(len(data.actions), rank),
        "base_bytes": base,
        "peak_bytes": peak,
    }


def main() -> None:
    path, n, rank, steps = sys.argv[1], *map(int, sys.argv[2:])
    with np.load(path) as file:
        data = Transitions(**file).rows(slice(n))
    with threadpoolctl.threadpool_limits(1):
        print(json.dumps(measure(data, rank, steps)))


if __name__ == "__main__":
    main()
