"""Speed and growth of the solver, one table per question.

    python -m benchmarks.speed [--only TABLE ...] [--quick] [--repeats N] [--out FOLDER]

Prints the tables and writes them as CSV to benchmarks/results. Seconds are the CPU time of one
thread: on an idle machine the same as the clock's, on a busy one without the time spent waiting.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

from benchmarks.mountain_car import N_ACTIONS, Transitions, explore
from powr import POWR, literal
from powr.kernels import Exponential, Gaussian, Kernel
from powr.mirror_descent import mirror_descent
from powr.world_model import WorldModel
from suite.command import write_together
from suite.training import provenance

RESULTS = provenance.ROOT / "benchmarks" / "results"
MIB = 2**20
SEED = 1000  # a development seed
CALLS = 2000  # of predict
GAMMA, STEP_SIZE, REGULARIZATION = 0.99, 0.1, 1e-6
EPISODE = 200
CHUNK = 2048  # rows of one product: large enough for BLAS to run at full speed
SMOOTH = [0.3, 0.03]  # bandwidth of the kernel with which the literal algorithm is timed

Row = dict[str, Any]  # one round: floats are measurements, all else is the same in each round


# -- measuring ------------------------------------------------------------------------------------


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def in_own_process(task: Callable[..., Row], *arguments: Any) -> Row:
    """What a function of this module returns, in a process whose memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def publish(name: str, question: str, rounds: Iterable[Row], out: Path) -> None:
    """Print the median of each measurement over the rounds; write it with its range, all digits."""
    import pandas as pd  # not above: the memory of a process that is measured would include it

    frame = pd.DataFrame(rounds)
    same = [column for column in frame if frame[column].dtype != float]
    table = frame.groupby(same, sort=False).agg(["median", "min", "max"])
    medians = table.xs("median", axis=1, level=1).reset_index()
    print(f"\n{question}\n\n{medians.to_string(index=False, float_format='{:,.3g}'.format)}")
    table.columns = [f"{column} {kind}".removesuffix(" median") for column, kind in table]
    write_together({out / f"{name}.csv": table.reset_index().to_csv(index=False)})


# -- a whole training -----------------------------------------------------------------------------


def june(quick: bool, repeats: int) -> Iterator[Row]:
    """POWR on MountainCar-v0 with the authors' settings: Gaussian (0.1, 0.01)."""
    short, long = (1000, 2000) if quick else (3000, 30_000)
    for timesteps in [short] * repeats + [long]:
        yield in_own_process(train, timesteps)


def train(timesteps: int) -> Row:
    agent = POWR("MountainCar-v0", kernel=Gaussian([0.1, 0.01]), seed=SEED)
    seconds, _ = timed(lambda: agent.learn(timesteps))
    peak = provenance.peak_memory_bytes()
    states = agent.data.columns()[0]
    observations = states[np.linspace(0, len(states) - 1, CALLS).astype(int)]
    predicting, _ = timed(
        lambda: [agent.predict(each, deterministic=True) for each in observations]
    )
    return {
        "timesteps": timesteps,
        "rank": agent.model_.rank_ if agent.model_ else 0,
        "epochs": agent.n_plans_,
        "seconds": seconds,
        "peak MiB": peak / MIB,
        "predict, us": 1e6 * predicting / CALLS,
    }


# -- growth ---------------------------------------------------------------------------------------


def growth(quick: bool, repeats: int) -> Iterator[Row]:
    """Fit and 10 PMD steps on n MountainCar transitions, 500 dictionary points."""
    sizes = (500, 1000, 2000) if quick else (4000, 8000, 16000, 32000, 64000, 128_000)
    for _ in range(repeats):
        for n in sizes:
            yield in_own_process(grow, n, *((100, 2) if quick else (500, 10)))


def million(quick: bool, repeats: int) -> list[Row]:
    """One fit and one step on an eighth of the data and on all; the exponent between them."""
    n, rank = (4000, 100) if quick else (1_000_000, 500)
    eighth, whole = (in_own_process(grow, size, rank, 1) for size in (n // 8, n))
    return [eighth, whole | {"exponent": math.log(whole["seconds"] / eighth["seconds"], 8)}]


def grow(n: int, rank: int, steps: int) -> Row:
    """Seconds of a fit, a step and its plain BLAS product; the peak memory without the product."""
    data = explore(n)
    base = provenance.peak_memory_bytes()
    model = new_model(rank)
    fit, _ = timed(lambda: model.fit(*data))
    descent, _ = timed(lambda: descend(model, steps))
    peak = provenance.peak_memory_bytes()
    product, _ = timed(lambda: multiply(n, rank))
    return {
        "n": n,
        "steps": steps,
        "rank": model.rank_,
        "seconds": fit + descent,
        "fit": fit,
        "step": descent / steps,
        "step / product": descent / steps / product,
        "peak MiB": peak / MIB,
        "MiB above base": (peak - base) / MIB,
    }


def new_model(rank: int) -> WorldModel:
    """A Nystrom model with exactly `rank` dictionary points, if there are as many states."""
    settings: Any = {"regularization": REGULARIZATION, "tolerance": 0.0, "max_rank": rank}
    return WorldModel(Exponential([0.6, 0.06]), N_ACTIONS, method="nystrom", **settings)


def descend(model: WorldModel, steps: int) -> NDArray:
    """Mirror descent from the uniform policy: the exponent, as coefficients over the states."""
    uniform = np.zeros((len(model.states_), N_ACTIONS))
    descent = mirror_descent(model, uniform, steps=steps, step_size=STEP_SIZE, gamma=GAMMA)
    return descent.coefficients


def multiply(n: int, rank: int) -> None:
    """Z'[pi_1 Z' ... pi_A Z'], n rank^2 |A| multiply-adds, in chunks of rows."""
    rng = np.random.default_rng(0)
    left = rng.standard_normal((CHUNK, rank))
    right = rng.standard_normal((CHUNK, N_ACTIONS * rank))
    product = np.zeros((rank, N_ACTIONS * rank))
    for start in range(0, n, CHUNK):
        rows = slice(min(CHUNK, n - start))
        np.matmul(left[rows].T, right[rows], out=product)


def episode(quick: bool, repeats: int) -> Iterator[Row]:
    """Adding 200 transitions to n by partial_fit, against a fit from nothing."""
    n, rank = (2000, 100) if quick else (100_000, 500)
    data = explore(n + repeats * EPISODE)
    model = new_model(rank).fit(*data.rows(slice(n)))
    for size in range(n, n + repeats * EPISODE, EPISODE):
        new, everything = slice(size, size + EPISODE), slice(size + EPISODE)
        added, _ = timed(partial(model.partial_fit, *data.rows(new)))
        refitted, _ = timed(partial(new_model(rank).fit, *data.rows(everything)))
        row = {"n": n, "rank": model.rank_, "added": added, "refitted": refitted}
        yield row | {"refitted / added": refitted / added}


# -- Algorithm 1 as printed -----------------------------------------------------------------------

# By kernel: a smooth one, that of the paper's authors, and a rough one.
CASES: list[tuple[Kernel, str, dict[str, Any]]] = [
    (Gaussian(SMOOTH), "nystrom", {"tolerance": 1e-10}),
    (Gaussian(SMOOTH), "exact", {}),
    (Gaussian([0.1, 0.01]), "nystrom", {"tolerance": 1e-10}),
    (Exponential([0.6, 0.06]), "nystrom", {"tolerance": 1e-2, "max_rank": 600}),
    (Exponential([0.6, 0.06]), "exact", {}),
]


def printed_algorithm(quick: bool, repeats: int) -> Iterator[Row]:
    """One fit and one PMD step on n MountainCar transitions, against Algorithm 1.

    Algorithm 1: powr/literal.py, its Gram matrices by Python loops (timed once). Algebra: the same
    products and inverses, with Gram matrices computed at once. Off Algorithm 1: the largest error
    of the action values at a next state, as a share of its largest action value.
    """
    sizes = (200, 400) if quick else (1000, 2000, 4000)
    data = explore(sizes[-1])
    for n in sizes:
        for case in CASES:
            for number in range(repeats):
                yield compare(*case, data.rows(slice(n)), with_loops=number == 0)


def compare(
    kernel: Kernel, method: str, options: dict[str, Any], data: Transitions, with_loops: bool
) -> Row:
    def fit_and_step() -> tuple[WorldModel, NDArray]:
        settings: Any = {"regularization": REGULARIZATION, "method": method, **options}
        model = WorldModel(kernel, N_ACTIONS, **settings).fit(*data)
        return model, descend(model, steps=1) / STEP_SIZE

    seconds, (model, coefficients) = timed(fit_and_step)
    algebra_seconds, printed = timed(partial(algebra, kernel, data))
    loops = math.nan
    if with_loops and kernel == Gaussian(SMOOTH):
        loops, printed = timed(partial(loop_by_loop, data))
    q = model.function(coefficients)(data.next_states)
    q_printed = kernel(data.next_states, data.states) @ printed
    errors = np.abs(q - q_printed).max(axis=1) / np.abs(q_printed).max(axis=1)
    return {
        **{"n": len(data.actions), "kernel": repr(kernel), "method": method, "rank": model.rank_},
        **{"seconds": seconds, "Algorithm 1": loops, "times faster": loops / seconds},
        **{"algebra": algebra_seconds, "times faster than algebra": algebra_seconds / seconds},
        "off Algorithm 1": errors.max(),
    }


def loop_by_loop(data: Transitions) -> NDArray:
    """C after one iteration of Algorithm 1 as printed."""
    solution = literal.algorithm1(
        *data[:4],
        n_actions=N_ACTIONS,
        kernel=literal.gaussian(SMOOTH),
        gamma=GAMMA,
        step_size=1.0,
        regularization=REGULARIZATION,
        iterations=1,
        terminated=data.terminated,
    )
    return solution.weights[-1]


def algebra(kernel: Kernel, data: Transitions) -> NDArray:
    """C after one iteration: the matrices, products and inverses of Algorithm 1."""
    n = len(data.actions)
    E = np.eye(N_ACTIONS)[data.actions]
    K = kernel(data.states, data.states) * (E @ E.T) + n * REGULARIZATION * np.eye(n)
    M = kernel(data.next_states, data.states) / N_ACTIONS * ~data.terminated[:, None]
    K_inverse = np.linalg.inv(K)
    c = np.linalg.inv(np.eye(n) - GAMMA * K_inverse @ M) @ (K_inverse @ data.rewards)
    return c[:, None] * E


BENCHMARKS = {
    each.__name__.replace("_", "-"): each
    for each in (printed_algorithm, growth, million, episode, june)
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="default: benchmarks/results, quick/ below it")
    options = parser.parse_args(arguments)
    out = options.out or (RESULTS / "quick" if options.quick else RESULTS)
    load = os.getloadavg()[0]
    with threadpoolctl.threadpool_limits(1):
        machine = provenance.collect() | {"cores": os.cpu_count(), "load_average": load}
        print(f"{machine['cpu']}, {machine['cores']} cores, load {load:.1f}; CPU s of one core")
        write_together({out / "machine.json": json.dumps(machine, indent=1) + "\n"})
        for name in options.only:
            function = BENCHMARKS[name]
            publish(name, function.__doc__ or "", function(options.quick, options.repeats), out)


if __name__ == "__main__":
    main()
