"""Ways to solve Prop. 3, behind one interface: the data in, weights of the action values out.

`empirical_mdp.py` is exact for the Dirac kernel, `exact.py` for any kernel, and `nystrom.py` fits
all data in the span of a dictionary of states. A new way is a module with a class that follows
`Solver`, and a line in `make_solver`.
"""

from __future__ import annotations

import warnings
from typing import Protocol

from numpy.typing import NDArray

from powr.data import Counts
from powr.kernels import Dirac, Kernel
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.solvers.exact import ExactModel
from powr.solvers.nystrom import NystromModel

METHODS = ("auto", "exact", "nystrom")

# The error of a Nystrom kernel on its diagonal, as a share of the largest k(x, x): a tenth of the
# usual regularization. Action values then differ from the exact ones by about 1e-7 of their range.
TOLERANCE = 1e-7


# Unknowns of the largest Nystrom system (144 MB and its factors), and distinct pairs of the largest
# exact one that "auto" takes in its place (0.7 GB in all).
MOST_UNKNOWNS = 6000
MOST_PAIRS = 4000


class Solver(Protocol):
    """One way to solve Prop. 3 on a growing set of transitions.

    Weights are the solver's own unknowns, one column per action. They are linear in the rewards,
    so weights may be scaled and added; `at_states` and `coefficients` convert them.
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


def choose_method(method: str, kernel: Kernel, n_pairs: int, max_rank: int, n_actions: int) -> str:
    """The method for this number of distinct pairs: "auto" is exact as long as that is cheap."""
    if method != "auto":
        return method
    # Where many actions would cut the rank, exact systems are the smaller ones for longer.
    is_cut = max_rank > largest_rank(n_actions)
    most = max(max_rank, MOST_PAIRS) if is_cut else max_rank
    return "exact" if isinstance(kernel, Dirac) or n_pairs <= most else "nystrom"


def largest_rank(n_actions: int) -> int:
    """The rank that keeps a Nystrom system, of rank times actions unknowns, small."""
    return max(1, MOST_UNKNOWNS // n_actions)


def make_solver(
    method: str, kernel: Kernel, data: Counts, tolerance: float, max_rank: int
) -> Solver:
    """The solver of a method that `choose_method` returned."""
    if method == "nystrom":
        rank = min(max_rank, largest_rank(data.n_actions))
        if rank < max_rank:
            warnings.warn(
                f"{data.n_actions} actions leave memory for a rank of {rank}, less than max_rank "
                f"({max_rank}), so that values are coarser: use fewer actions where it matters",
                stacklevel=2,
            )
        return NystromModel(kernel, data, tolerance, rank)
    if isinstance(kernel, Dirac):
        return EmpiricalMDP(data)
    return ExactModel(kernel, data)
