"""Where the paper's analysis does not hold as printed: the smallest cases, computed.

Each function gives the two sides of a printed inequality, and the right side that can be proven
in its place if there is one. docs/theory.md explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from powr.kernels import Dirac, Exponential, Gaussian
from powr.mirror_descent import kl_step, softmax
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from suite.theory.closed_form import estimate
from suite.theory.simulation import transfer_estimate, uniform_norm


class Inequality(NamedTuple):
    """left <= printed is claimed; left <= proven holds (NaN where nothing of the kind does)."""

    what: str
    left: float
    printed: float
    proven: float


def simulation_lemma() -> Inequality:
    """Lemma 8: |<psi, (T - T_n) v>| is at most ||T - T_n||_HS ||v||_F, not times ||v||_inf.

    One action. State 0 leads to one of two states that pay 1 for ever, and was never visited.
    """
    gamma = 0.1
    truth = TabularMDP.from_arrays(
        [[[0.0, 0.5, 0.5]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]],
        rewards=[[0.0], [1.0], [1.0]],
        initial_distribution=[1, 0, 0],
    )
    model = WorldModel(Dirac(), 1, regularization=1e-12)
    model.fit([1, 2], [0, 0], [1.0, 1.0], [1, 2], [False, False])
    policy = np.ones((3, 1))
    error = np.abs(estimate(model, policy, gamma) - truth.action_values(policy, gamma)).max()
    estimated = transfer_estimate(model, 3)
    hilbert_schmidt = np.linalg.norm(truth.transitions.toarray() - estimated)
    rewards = np.linalg.norm(model.reward([0, 1, 2]) - truth.rewards)
    horizon = 1 / (1 - gamma * uniform_norm(estimated))
    values = truth.values(policy, gamma)
    largest_value = np.abs(truth.rewards).max() / (1 - gamma)
    return Inequality(
        "error of the action values",
        float(error),
        float(horizon * (rewards + gamma * largest_value * hilbert_schmidt)),
        float(horizon * (rewards + gamma * np.linalg.norm(values) * hilbert_schmidt)),
    )


def monotone_step() -> Inequality:
    """Proof of Thm. 7: J(pi_t) <= J(pi_T) + eps_t + eps_T, by Eq. (B.6) for estimated values.

    Algorithm 1 itself on five transitions of three states: the estimate explodes at the third
    step, and a policy that was nearly optimal is lost for good.
    """
    objectives, errors = collapsing_descent(steps=5)
    gamma = COLLAPSE_GAMMA
    return Inequality(
        "J(pi_0)",
        objectives[0],
        objectives[5] + errors[0] + errors[5],
        objectives[5] + 2 / (1 - gamma) * sum(errors[:5]),
    )


COLLAPSE_GAMMA = 0.9
COLLAPSE_STATES = np.array([[0.8], [-0.6], [-0.2]])


def collapsing_descent(steps: int) -> tuple[list[float], list[float]]:
    """J(pi_t) from the state -0.2, and the error eps_t of Algorithm 1's action values.

    Action 0 leads to 0.8, action 1 to -0.2, which pays 1 unless taken in 0.8. All pairs were
    tried once but the best one, action 1 in -0.2.
    """
    rewards = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    mdp = TabularMDP.from_arrays(
        np.tile([[1.0, 0, 0], [0, 0, 1.0]], (3, 1, 1)),
        rewards=rewards,
        initial_distribution=[0, 0, 1],
    )
    states, actions = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
    following = np.where(actions == 0, 0, 2)
    model = WorldModel(Gaussian(1.0), 2, regularization=1e-5).fit(
        COLLAPSE_STATES[states],
        actions,
        rewards[states, actions],
        COLLAPSE_STATES[following],
        np.zeros(5, dtype=bool),
    )
    exponents = np.zeros((3, 2))
    objectives, errors = [], []
    for _ in range(steps + 1):
        policy = softmax(exponents)
        exact = mdp.action_values(policy, COLLAPSE_GAMMA)
        estimated = model.action_values(tabulated(policy), COLLAPSE_GAMMA)(COLLAPSE_STATES)
        objectives.append(mdp.objective(policy, COLLAPSE_GAMMA))
        errors.append(float(np.abs(estimated - exact).max()))
        exponents += estimated
    return objectives, errors


def tabulated(policy: NDArray) -> Callable[[NDArray], NDArray]:
    """A policy given at the three states, as a function of states."""
    return lambda states: policy[(states == COLLAPSE_STATES.T).argmax(axis=1)]


def transfer_norm_gaussian() -> Inequality:
    """Lemma 8 asks for gamma ||T_n|| < 1. Two transitions of the map x -> 2x break it."""
    return spectral_radius(
        Gaussian(1.0), np.array([[-0.5], [0.5]]), np.array([[-1.0], [1.0]]), gamma=0.8
    )


def transfer_norm_exponential() -> Inequality:
    """So do three transitions in the plane for the kernel that the paper's theory asks for.

    In three corners of a square; two lead to the fourth corner, the one opposite of it to itself.
    """
    side = 0.1
    corners = side * np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    following = side * np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    return spectral_radius(Exponential(1.0), corners, following, gamma=0.99)


def spectral_radius(
    kernel: Gaussian | Exponential, states: NDArray, following: NDArray, gamma: float
) -> Inequality:
    """gamma times the spectral radius of T_n P, one action: at 1 the action values are infinite."""
    gram = kernel(states, states) + 1e-9 * np.eye(len(states))
    onward = np.linalg.solve(gram, kernel(states, following)).T
    radius = float(np.abs(np.linalg.eigvals(onward)).max())
    return Inequality("gamma times the spectral radius of T_n P", gamma * radius, 1.0, np.nan)


def markov_operator() -> Inequality:
    """Prop. A.2: two states, one action, P swaps the states.

    P is positive and maps 1 to 1, but with one action the only policy operator is the identity.
    What it takes to be one is P(f g) = f P g for functions f of the state.
    """
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    probabilities = swap @ np.ones((2, 1))  # pi_P(B|x) = (P 1_(X x B))(x)
    its_policy_operator = np.diag(probabilities[:, 0])
    distance = uniform_norm(swap - its_policy_operator)
    return Inequality("distance of P to the policy operator made of it", distance, 0.0, np.nan)


def sobolev_policy() -> Inequality:
    """Thm. 5 for s = 1/5 on a line: a policy and action values in the space, the step outside.

    A function given at n points is in the space if its squared norm settles as n grows. From n to
    8 n and on to 64 n the norm of the policy after the step grows more the second time.
    """
    norms = [norms_along_a_step(2**exponent)[-1] for exponent in (12, 15, 18)]
    first, second = np.diff(norms)
    what = "how much more the squared norm grows from 8 n to 64 n points than from n to 8 n"
    return Inequality(what, float(second / first), 1.0, np.nan)


def norms_along_a_step(resolution: int) -> list[float]:
    """Squared norms of order 1/5 on [0, 1]: of q, of the policy, and of the policy after the step.

    q = x^(-1/8) is unbounded. The policy's oscillations at 0 are damped by exp(-30 q), and a step
    of size 30 undoes that: it leads to 1/2 + sin(x^-3) / 4.
    """
    x = (np.arange(resolution) + 0.5) / resolution
    q, wild = x ** (-1 / 8), 0.5 + np.sin(x**-3) / 4
    damped = wild * np.exp(-30 * q)
    policy = np.stack([damped, 1 - wild], axis=1) / (damped + 1 - wild)[:, None]
    after = kl_step(policy, np.stack([q, np.zeros_like(q)], axis=1), 30.0)
    return [sobolev_norm(f, smoothness=0.2) for f in (q, policy[:, 0], after[:, 0])]


def sobolev_norm(values: NDArray, smoothness: float) -> float:
    """Squared norm of a function on [0, 1] given at midpoints, by its cosine coefficients."""
    coefficients = dct(values, type=2) / len(values)
    return float((1 + np.arange(len(values)) ** 2) ** smoothness @ coefficients**2)


COUNTEREXAMPLES: Mapping[str, Callable[[], Inequality]] = {
    example.__name__: example
    for example in (
        simulation_lemma,
        monotone_step,
        transfer_norm_gaussian,
        transfer_norm_exponential,
        markov_operator,
        sobolev_policy,
    )
}
