"""Ways to solve Prop. 3, behind one interface: the data in, weights of the action values out.

`empirical_mdp.py` is exact for the Dirac kernel, `exact.py` for any kernel (on all pairs or on the
subset of `subset.py`), `low_rank.py` fits all data in the span of a dictionary of states, and
`local.py` predicts from landmarks and near neighbours.
A new way is a module with a class that follows `Solver`, and a line in `make_solver`.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from powr.kernels import Dirac, Kernel
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.solvers.exact import ExactModel
from powr.solvers.local import LocalModel
from powr.solvers.low_rank import LowRankModel
from powr.transitions import Transitions

METHODS = ("auto", "exact", "low_rank", "local", "subset")

# The error of a low-rank kernel on its diagonal, as a share of the largest k(x, x): at this one the
# low-rank solve equals the exact one to about seven digits.
TOLERANCE = 1e-10


class Solver(Protocol):
    """One way to solve Prop. 3 on a growing set of transitions.

    Weights are the solver's own unknowns, one column per action. They are linear in the rewards,
    so that weights may be scaled and added; `at_states` and `coefficients` say what they stand for.
    What depends on the data alone is worked out by `update`, so that solves for many policies and
    regularizations share it.
    """

    @property
    def rank(self) -> int:
        """The number of states or pairs that span the solution."""
        ...

    def update(self) -> None:
        """Take in what the data gained since the last call."""
        ...

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """Weights of the action values, Prop. 3.

        `rewards` are summed per pair, `policy` holds the probabilities at the distinct states.
        """
        ...

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """Weights of the kernel ridge regression, Eq. (10), on targets summed per pair."""
        ...

    def at_states(self, weights: NDArray) -> NDArray:
        """The function of these weights at the distinct states, (states, actions)."""
        ...

    def coefficients(self, weights: NDArray) -> NDArray:
        """The c with k(x, states) c the function of these weights, (states, actions)."""
        ...


def check_method(method: object, name: str = "method") -> str:
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"{name} must be one of {', '.join(METHODS)}, got {method!r}")
    return method


def choose_method(method: str, kernel: Kernel, n_pairs: int, max_rank: int) -> str:
    """What `method` means for so many distinct pairs: "auto" is exact as long as that is cheap."""
    if method != "auto":
        return method
    return "exact" if isinstance(kernel, Dirac) or n_pairs <= max_rank else "subset"


def make_solver(
    method: str, kernel: Kernel, data: Transitions, tolerance: float, max_rank: int
) -> Solver:
    """The solver of a method that `choose_method` returned."""
    if method == "low_rank":
        return LowRankModel(kernel, data, tolerance, max_rank)
    if method == "local":
        return LocalModel(kernel, data)
    if method == "subset":
        return ExactModel(kernel, data, max_rank)
    if isinstance(kernel, Dirac):
        return EmpiricalMDP(data)
    return ExactModel(kernel, data)
