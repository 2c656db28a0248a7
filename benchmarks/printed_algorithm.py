"""One fit and one step of mirror descent against Algorithm 1 as printed, and their agreement.

Algorithm 1 is timed twice: `benchmarks/literal/algorithm1.py`, whose Gram matrices are filled entry
by entry in Python, and the same algebra with its Gram matrices computed at once, so that the second
ratio owes nothing to slow loops.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.growth import GAMMA, REGULARIZATION, STEP_SIZE, descend
from benchmarks.literal import kernels as literal
from benchmarks.literal.algorithm1 import algorithm1
from benchmarks.measure import Table, in_turns, ratios, spread, timed
from benchmarks.mountain_car import N_ACTIONS, Transitions, explore
from powr.kernels import Exponential, Gaussian, Kernel
from powr.world_model import WorldModel

SIZES = (1000, 2000, 4000)
QUICK_SIZES = (200, 400)
SMOOTH = [0.3, 0.03]  # bandwidth of the kernel with which the literal algorithm is timed


class Case(NamedTuple):
    kernel: Kernel
    method: str
    tolerance: float = 1e-10
    max_rank: int = 1000

    def fit_and_step(self, data: Transitions) -> tuple[WorldModel, NDArray]:
        """The model, and q of the uniform policy as coefficients over its states."""
        model = WorldModel(
            self.kernel,
            N_ACTIONS,
            regularization=REGULARIZATION,
            method=self.method,
            tolerance=self.tolerance,
            max_rank=self.max_rank,
        ).fit(*data)
        return model, descend(model, steps=1) / STEP_SIZE


# By kernel: a smooth one, that of the paper's authors, and that of the study with its settings.
CASES = (
    (Case(Gaussian(SMOOTH), "nystrom"), Case(Gaussian(SMOOTH), "exact")),
    (Case(Gaussian([0.1, 0.01]), "nystrom"),),
    (
        Case(Exponential([0.6, 0.06]), "nystrom", tolerance=1e-2, max_rank=600),
        Case(Exponential([0.6, 0.06]), "exact"),
    ),
)


def tables(quick: bool, repeats: int) -> list[Table]:
    sizes = QUICK_SIZES if quick else SIZES
    data = explore(sizes[-1])
    rows = [
        row
        for n in sizes
        for cases in CASES
        for row in compare(cases, data.rows(slice(n)), repeats)
    ]
    return [
        Table(
            "printed-algorithm",
            "One fit and one PMD step on n MountainCar transitions, against Algorithm 1",
            rows,
            "Algorithm 1: benchmarks/literal, its Gram matrices by Python loops (timed once).\n"
            "Algebra: the same products and inverses, with Gram matrices computed at once.\n"
            "Off Algorithm 1: largest error of the action values at a next state, as a share of "
            "its largest action value.",
        )
    ]


def compare(cases: tuple[Case, ...], data: Transitions, repeats: int) -> Iterator[dict[str, Any]]:
    """The cases, which share a kernel, against one run of Algorithm 1."""
    kernel = cases[0].kernel
    print(f"n = {len(data.actions):,}: {kernel}", file=sys.stderr)
    tasks = {case.method: partial(case.fit_and_step, data) for case in cases}
    timings = in_turns(tasks | {"algebra": partial(algebra, kernel, data)}, repeats)
    algebra_seconds, printed = timings.pop("algebra")
    loop_seconds = None
    if isinstance(kernel, Gaussian) and kernel.bandwidth.tolist() == SMOOTH:
        loop_seconds, printed = timed(partial(loop_by_loop, data))
    q_printed = kernel(data.next_states, data.states) @ printed
    for case in cases:
        seconds, (model, coefficients) = timings[case.method]
        q = model.function(coefficients)(data.next_states)
        errors = np.abs(q - q_printed).max(axis=1) / np.abs(q_printed).max(axis=1)
        yield {
            "n": len(data.actions),
            "kernel": repr(kernel),
            "method": case.method,
            "tolerance": case.tolerance if case.method == "nystrom" else None,
            "rank": model.rank_,
            **spread("seconds", seconds),
            "Algorithm 1": loop_seconds,
            "times faster": loop_seconds and loop_seconds / statistics.median(seconds),
            **spread("algebra", algebra_seconds),
            **ratios("times faster than algebra", algebra_seconds, seconds),
            "off Algorithm 1": errors.max(),
        }


def loop_by_loop(data: Transitions) -> NDArray:
    """C after one iteration of Algorithm 1 as printed."""
    solution = algorithm1(
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
