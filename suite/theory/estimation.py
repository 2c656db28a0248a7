"""Prop. C.2: the error of the action values of i.i.d. data against their number n."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from powr.kernels import Dirac, Exponential
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from suite.results.statistics import Estimate, Interval
from suite.theory import models
from suite.theory.simulation import estimate, uniform_policy

KERNEL = Exponential(0.5)
# The eigenvalues of the exponential kernel on an interval fall like i^-2 (p = 1/2), and smooth
# functions that meet no boundary condition satisfy Asm. 2 for every beta < 1/4. The guaranteed
# exponent beta / (1 + 2 beta + p) then comes with lambda = O(n^(-1 / (1 + 2 beta + p))).
CONTINUOUS_RATE = 1 / 8
CONTINUOUS_REGULARIZATION = (0.01, -1 / 2)  # factor, power of n
# Asm. 2 holds for every beta. Beyond beta = 1/2 the range of the cited theorems is not known to us.
TABULAR_RATE = 1 / 4


def tabular_model(mdp: TabularMDP, n: int, seed: int) -> WorldModel:
    """The ridge weighs as much as a thousandth of a transition."""
    data = models.sample(mdp, n, np.random.default_rng([seed, n]))
    return WorldModel(Dirac(), mdp.n_actions, regularization=1e-3 / n).fit(*data)


def tabular_error(mdp: TabularMDP, gamma: float, n: int, seed: int) -> float:
    policy = uniform_policy(mdp)
    estimated = estimate(tabular_model(mdp, n, seed), policy, gamma)
    return float(np.abs(estimated - mdp.action_values(policy, gamma)).max())


def continuous_error(gamma: float, n: int, seed: int) -> float:
    factor, power = CONTINUOUS_REGULARIZATION
    model = WorldModel(
        KERNEL,
        2,
        regularization=factor * n**power,
        method="low_rank",
        tolerance=1e-6,
        max_rank=300,
    ).fit(*models.continuous_sample(n, np.random.default_rng([seed, n])))
    q = model.action_values(lambda states: np.full((len(states), 2), 0.5), gamma)
    exact = models.continuous_action_values(np.full((len(models.GRID), 2), 0.5), gamma)
    return float(np.abs(q(models.GRID[:, None]) - exact).max())


def fitted_exponent(sizes: NDArray, errors: NDArray) -> Estimate:
    """alpha of error = O(n^-alpha): the mean over seeds of the fitted slopes, with its interval.

    `errors` has one row per seed and one column per size.
    """
    return mean_estimate(-np.polyfit(np.log(sizes), np.log(errors).T, 1)[0])


def mean_estimate(values: Sequence[float] | NDArray) -> Estimate:
    """The mean with its 95% t interval."""
    mean, spread = np.mean(values), max(stats.sem(values), 1e-300)  # scipy wants a positive one
    low, high = stats.t.interval(0.95, np.size(values) - 1, loc=mean, scale=spread)
    return Estimate(float(mean), Interval(float(low), float(high)))
