"""Time and memory of a fit and 10 PMD steps as the data doubles, with 500 dictionary points.

And adding one episode to a fitted world model, against a fit from nothing to all the data.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

from benchmarks.measure import MIB, Table, in_own_process, ratios, spread, spreads, timed
from benchmarks.mountain_car import N_ACTIONS, Transitions, explore
from powr.kernels import Exponential
from powr.mirror_descent import mirror_descent
from powr.world_model import WorldModel
from suite.training.provenance import peak_memory_bytes

SIZES = (4000, 8000, 16000, 32000, 64000, 128000)
QUICK_SIZES = (500, 1000, 2000)
KERNEL = Exponential([0.6, 0.06])
GAMMA = 0.99
STEP_SIZE = 0.1
REGULARIZATION = 1e-6
EPISODE = 200
CHUNK = 2048  # rows of one product: large enough for BLAS to run at full speed


def tables(quick: bool, repeats: int) -> list[Table]:
    sizes, rank, steps = (QUICK_SIZES, 100, 2) if quick else (SIZES, 500, 10)
    return [
        Table(
            "growth",
            f"Fit and {steps} PMD steps on n MountainCar transitions, {rank} dictionary points",
            measure(sizes, rank, steps, repeats),
            "Each point is a process of its own. Product: one plain BLAS product of the blocks of "
            "a step (n m^2 |A| multiply-adds).\nPeak MiB includes the base: interpreter, "
            "libraries and data, before the fit.",
        )
    ]


def episode_tables(quick: bool, repeats: int) -> list[Table]:
    n, rank = (2000, 100) if quick else (100_000, 500)
    data = explore(n + repeats * EPISODE)
    model = new_model(rank).fit(*data.rows(slice(n)))
    added, refitted = [], []
    for size in range(n, n + repeats * EPISODE, EPISODE):
        episode = data.rows(slice(size, size + EPISODE))
        everything = data.rows(slice(size + EPISODE))
        added.append(timed(lambda episode=episode: model.partial_fit(*episode))[0])
        refitted.append(timed(lambda data=everything: new_model(rank).fit(*data))[0])
    row = {"n": n, "rank": model.rank_, **spread("added", added), **spread("refitted", refitted)}
    row |= ratios("refitted / added", refitted, added)
    question = f"Adding {EPISODE} transitions to n by partial_fit, against a fit from nothing"
    return [Table("episode", question, [row])]


def measure(sizes: Sequence[int], rank: int, steps: int, repeats: int) -> list[dict[str, Any]]:
    """A row per size: the figures of `measure_point`, in rounds over all sizes."""
    points: dict[int, list[dict[str, Any]]] = {n: [] for n in sizes}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, **explore(sizes[-1])._asdict())
        for round_ in range(repeats):
            for n in sizes:
                print(f"round {round_ + 1} of {repeats}: n = {n:,}", file=sys.stderr)
                point = in_own_process("benchmarks.growth:measure_point", str(data), n, rank, steps)
                points[n].append(point)
    return [{"n": n, "steps": steps, **spreads(points[n])} for n in sizes]


def new_model(rank: int) -> WorldModel:
    """A Nystrom model with exactly `rank` dictionary points, if there are as many states."""
    return WorldModel(
        KERNEL,
        N_ACTIONS,
        regularization=REGULARIZATION,
        method="nystrom",
        tolerance=0.0,
        max_rank=rank,
    )


def descend(model: WorldModel, steps: int) -> NDArray:
    """Mirror descent from the uniform policy: the exponent, as coefficients over the states."""
    uniform = np.zeros((len(model.states_), N_ACTIONS))
    descent = mirror_descent(model, uniform, steps=steps, step_size=STEP_SIZE, gamma=GAMMA)
    return descent.coefficients


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


def measure_point(path: str, n: int, rank: int, steps: int) -> dict[str, float]:
    """Seconds of a fit, a step and its plain product, and the peak memory without the product."""
    with np.load(path) as file:
        data = Transitions(**file).rows(slice(n))
    with threadpoolctl.threadpool_limits(1):
        base = peak_memory_bytes()
        model = new_model(rank)
        fit, _ = timed(lambda: model.fit(*data))
        descent, _ = timed(lambda: descend(model, steps))
        peak = peak_memory_bytes()
        product = product_seconds(n, rank)
    return {
        "states": len(model.states_),
        "rank": model.rank_,
        "seconds": fit + descent,
        "fit": fit,
        "step": descent / steps,
        "product": product,
        "step / product": descent / steps / product,
        "peak MiB": peak / MIB,
        "MiB above base": (peak - base) / MIB,
    }
