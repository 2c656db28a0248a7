"""Props. 2 and 4 by numbers: the mean embedding on tables, and what separable spaces hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.mirror_descent import softmax
from powr.tabular import TabularMDP
from suite.theory.closed_form import model_of_table

FUNCTIONS = 5  # of the next state, drawn at random
# More states than the products of features have dimensions, so that F does not hold everything.
STATES, FEATURES, ACTIONS = 60, 4, 3


def embedding_error(mdp: TabularMDP, regularization: float) -> float:
    """Prop. 2, Eq. (9): largest |<f, T_n^* psi(x, a)> - E[f(X') | x, a]| over the largest |f|.

    Of the estimator of Eq. (10) from data in which each outcome is as frequent as it is probable.
    """
    model, states = model_of_table(mdp, regularization), np.arange(mdp.n_states)
    errors = []
    for f in np.random.default_rng(0).normal(size=(FUNCTIONS, mdp.n_states)):
        embedded = model.expect(f.__getitem__, states, past_termination=False)
        expected = (mdp.transitions @ f).reshape(mdp.rewards.shape)
        errors.append(float(np.abs(embedded - expected).max() / np.abs(f).max()))
    return max(errors)


def compatible_policy(seed: int) -> tuple[NDArray, NDArray]:
    """Features phi, (n, m), and a policy of the form pi(a|x) = <p_a, phi(x)>, (n, n_actions)."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.ones(FEATURES), size=STATES)
    return phi, phi @ rng.dirichlet(np.ones(ACTIONS), size=FEATURES)


def incompatible_policy(seed: int) -> tuple[NDArray, NDArray]:
    """The same features, and a policy that is no linear function of them."""
    phi, policy = compatible_policy(seed)
    return phi, softmax(10 * policy)


def distance_to_products(phi: NDArray, policy: NDArray, seed: int) -> float:
    """Prop. 4: how far P g lies from F, the products of two features, for a random g in G.

    Over the largest |P g|; 0 if the policy is compatible, up to rounding.
    """
    rng = np.random.default_rng([seed, 1])
    h, v = rng.normal(size=phi.shape[1]), rng.normal(size=policy.shape[1])
    averaged = (phi @ h) * (policy @ v)  # (P g)(x) for g(x, a) = <h, phi(x)> v_a
    products = np.einsum("xi,xj->xij", phi, phi).reshape(len(phi), -1)
    nearest = products @ np.linalg.lstsq(products, averaged, rcond=None)[0]
    return float(np.abs(averaged - nearest).max() / np.abs(averaged).max())
