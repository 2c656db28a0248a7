"""Ways to solve Prop. 3, behind one interface: the data in, weights of the action values out.

`empirical_mdp.py` is exact for the Dirac kernel, `exact.py` for any kernel, and `nystrom.py` fits
all data in the span of a dictionary of states. `WorldModel` chooses among them.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray


class Solver(Protocol):
    """One way to solve Prop. 3 on a growing set of transitions.

    Weights are the solver's own unknowns, one column per action. They are linear in the rewards,
    so weights may be scaled and added; `at_states` and `coefficients` convert them.
    """

    @property
    def rank(self) -> int:
        """The number of states or pairs that span the solution."""

    def update(self) -> None:
        """Take in what the data gained since the last call."""

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """Weights of the action values, Prop. 3.

        `rewards` are summed per pair, `policy` holds the probabilities at the distinct states.
        """

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """Weights of the kernel ridge regression, Eq. (10), on targets summed per pair."""

    def at_states(self, weights: NDArray) -> NDArray:
        """The function of these weights at the distinct states, (states, actions)."""

    def coefficients(self, weights: NDArray) -> NDArray:
        """The c with k(x, states) c the function of these weights, (states, actions)."""
