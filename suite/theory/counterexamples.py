"""Where a printed statement or a step of a proof fails: the smallest cases, computed.

Their tests assert the paper's hypotheses. docs/theory.md explains them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import j0

from powr.kernels import Dirac, Exponential
from powr.mirror_descent import kl_step, softmax
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from suite.theory import sobolev
from suite.theory.estimation import action_values, transfer_estimate, uniform_norm

ROUNDING = 1e-9


class Inequality(NamedTuple):
    what: str
    left: float
    right: float

    @property
    def holds(self) -> bool:
        return self.left <= self.right


class Example(NamedTuple):
    """What is printed and, where there is one, what holds in its place."""

    printed: Inequality
    corrected: Inequality | None = None


def unvisited_state() -> tuple[TabularMDP, WorldModel, NDArray, float]:
    """An MDP, its world model, the policy of its one action and the discount.

    State 0 leads to one of two states that pay 1 at each step, and was never visited.
    """
    truth = TabularMDP.from_arrays(
        [[[0.0, 0.5, 0.5]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]],
        rewards=[[0.0], [1.0], [1.0]],
        initial_distribution=[1, 0, 0],
    )
    model = WorldModel(Dirac(), 1, regularization=1e-12)
    model.fit([1, 2], [0, 0], [1.0, 1.0], [1, 2], [False, False])
    return truth, model, np.ones((3, 1)), 0.1


def simulation_lemma(scale: float = 1.0) -> Example:
    """Lemma 8: |<psi, (T - T_n) v>| is at most ||T - T_n||_HS ||v||_F ||psi||.

    Printed is the uniform norm of v in place of ||v||_F ||psi||. With phi = `scale` times the
    one-hot encoding, psi scales alike and the features of F as its square. So ||v||_F falls as
    scale^-2 and ||T - T_n||_HS rises as scale: only the printed bound depends on the scale. T_n
    is the same operator on functions if lambda scales as scale^2.
    """
    truth, model, policy, gamma = unvisited_state()
    exact = truth.action_values(policy, gamma)
    error = float(np.abs(action_values(model, policy, gamma) - exact).max())
    estimated = transfer_estimate(model, 3)
    hilbert_schmidt = scale * np.linalg.norm(truth.transitions.toarray() - estimated)
    largest_feature = scale  # C_psi
    rewards = np.linalg.norm(model.reward([0, 1, 2]) - truth.rewards) / scale  # in G
    values = np.linalg.norm(truth.values(policy, gamma)) / scale**2  # in F
    largest_value = np.abs(truth.rewards).max() / (1 - gamma)
    horizon = 1 / (1 - gamma * uniform_norm(estimated))
    printed, corrected = (
        float(horizon * (largest_feature * rewards + gamma * norm_of_v * hilbert_schmidt))
        for norm_of_v in (largest_value, values * largest_feature)
    )
    what = "error of the action values"
    return Example(
        Inequality(what, error, printed),
        Inequality(f"{what}, with the norm of v in F", error, corrected),
    )


ABSORBING_GAMMA = 0.9
ABSORBING_TRANSFER = np.array([[0, -1.1], [0, -1.1], [0, 1], [0, 1]])  # T_n, pairs by states
ABSORBING_REWARDS = np.array([[10.45, 9.45], [0.0, 1.0]])  # r_n


def absorbing_mdp() -> TabularMDP:
    """Two states that are never left; in each, one action pays 0 and the other 1."""
    return TabularMDP.from_arrays(
        np.repeat(np.eye(2), 2, axis=0).reshape(2, 2, 2),
        rewards=[[0.0, 1.0], [0.0, 1.0]],
        initial_distribution=[1, 0],
    )


def absorbing_descent(steps: int) -> tuple[list[float], list[float]]:
    """J(pi_t) from state 0 and the error eps_t, with the action values of T_n and r_n.

    The model is exact in state 1. In state 0 it prefers the wrong action, and its error is small
    at first because the values of state 1 are.
    """
    mdp, exponents = absorbing_mdp(), np.zeros((2, 2))
    objectives, errors = [], []
    for _ in range(steps + 1):
        policy = softmax(exponents)
        averaged = ABSORBING_TRANSFER @ np.kron(np.eye(2), np.ones(2)) * policy.ravel()  # T_n P
        system = np.eye(4) - ABSORBING_GAMMA * averaged
        q = np.linalg.solve(system, ABSORBING_REWARDS.ravel()).reshape(2, 2)
        objectives.append(mdp.objective(policy, ABSORBING_GAMMA))
        errors.append(float(np.abs(q - mdp.action_values(policy, ABSORBING_GAMMA)).max()))
        exponents += q
    return objectives, errors


def monotone_step() -> Example:
    """Proof of Thm. 7: J(pi_t) <= J(pi_T) + eps_t + eps_T, by Eq. (B.6) for estimated values."""
    objectives, errors = absorbing_descent(steps=50)
    return Example(Inequality("J(pi_0)", objectives[0], objectives[-1] + errors[0] + errors[-1]))


SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])


def markov_operator() -> Example:
    """Prop. A.2: two states, one action, P swaps the states.

    P is positive and maps 1 to 1, but with one action the only policy operator is the identity.
    """
    probabilities = SWAP @ np.ones((2, 1))  # pi_P(B|x) = (P 1_(X x B))(x)
    distance = uniform_norm(SWAP - np.diag(probabilities[:, 0]))
    return Example(Inequality("distance of P to the policy operator made of it", distance, 0.0))


def sobolev_policy() -> Example:
    """Thm. 5 for s = 1/5 on a line: with unbounded action values the step leaves the space."""
    what = "growth of the squared norm of the next policy as the grid is refined"
    unbounded, bounded = (
        float(sobolev.growth_in_step(step)[-1])
        for step in (sobolev.unbounded_step, sobolev.bounded_step)
    )
    return Example(
        Inequality(f"{what}, unbounded q", unbounded, 1.0),
        Inequality(f"{what}, bounded q", bounded, 1.0),
    )


def sign_of_the_simulation_lemma() -> Example:
    """Lemma A.6: one state, gamma = 1/2, r = 1, and T_1 = 0.4, T_2 = 0, both less than gamma."""
    gamma, T1, T2, r = 0.5, 0.4, 0.0, 1.0
    q1, q2 = r / (1 - gamma * T1), r / (1 - gamma * T2)
    printed, corrected = (
        abs(q1 - q2 - gamma / (1 - gamma * T1) * difference * q2)
        for difference in (T2 - T1, T1 - T2)
    )
    what = "difference of both sides"
    return Example(
        Inequality(what, printed, ROUNDING),
        Inequality(f"{what}, with the other sign", corrected, ROUNDING),
    )


def condition_of_the_inverse() -> Example:
    """Lemma A.5 (5) asks for gamma < ||X||, where gamma ||X|| < 1 is meant: one state, X = 3."""
    gamma, X = 0.5, 3.0
    inverse = 1 / (1 - gamma * X)
    return Example(
        Inequality("norm of (Id - gamma X P)^-1", abs(inverse), 1 / (1 - gamma * abs(X)))
    )


def kernel_smoothness() -> Example:
    """Section 5: exp(-|x|) belongs to W^(2, s) with s = ceil(d/2); in the plane s is 3/2.

    The Fourier transform of a kernel of W^(2, s) is c (1 + w^2)^-s.
    """
    frequencies = np.array([0.5, 8.0])
    transforms = [
        quad(lambda r, w=w: r * j0(w * r) * math.exp(-r), 0, 60, limit=400)[0] for w in frequencies
    ]
    smoothness = -np.diff(np.log(transforms))[0] / np.diff(np.log(1 + frequencies**2))[0]
    what = "distance of the smoothness in the plane to "
    return Example(
        Inequality(f"{what}ceil(d/2)", float(abs(smoothness - 1)), 1e-6),
        Inequality(f"{what}(d + 1)/2", float(abs(smoothness - 3 / 2)), 1e-6),
    )


def index_of_algorithm_1() -> Example:
    """The loop calls softmax(eta H C_t) pi_(t+1). By Eq. (15) and the last line it is pi_t."""
    states, actions = np.array([[0.0], [1.0], [0.5]]), np.array([0, 1, 1])
    model = WorldModel(Exponential(1.0), 2, regularization=0.1)
    model.fit(states, actions, [1.0, 0.0, 0.5], states, np.zeros(3, dtype=bool))
    first = np.full((3, 2), 0.5)  # softmax(eta H C_0) with C_0 = 0, the policy of the first q
    q = model.action_values(lambda x: np.full((len(x), 2), 0.5), 0.5)
    distance = float(np.abs(first - kl_step(first, q(states), 1)).max())
    what = "distance of the policy of the loop's first pass to pi_1 of Eq. (15)"
    return Example(Inequality(what, distance, ROUNDING))


COUNTEREXAMPLES: dict[str, Callable[[], Example]] = {
    example.__name__: example
    for example in (
        simulation_lemma,
        monotone_step,
        markov_operator,
        sobolev_policy,
        sign_of_the_simulation_lemma,
        condition_of_the_inverse,
        kernel_smoothness,
        index_of_algorithm_1,
    )
}
