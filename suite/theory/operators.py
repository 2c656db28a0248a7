"""Props. 2 and 4 on explicit features: mean embeddings, and what separable spaces hold.

Each check also takes cases in which its hypothesis does not hold, so that it can be seen to fail.
"""

from __future__ import annotations

import numpy as np

from powr.mirror_descent import softmax

# More states than the features, or their products, have dimensions, so that F and G do not hold
# everything.
STATES, FEATURES, ACTIONS = 60, 4, 3


def embedding_errors(seed: int, is_linear: bool) -> tuple[float, float]:
    """Prop. 2, largest relative errors: of Eq. (9), and of (T|_F)^* = (T^*)|_G.

    Asm. 1 holds if the transition probabilities are linear in the features psi of the pairs. The
    matrix of T|_F, from R^m to R^m, is fitted to half of the pairs; its adjoint is its transpose.
    Eq. (9) is asked of all pairs. The second identity is asked of random signed measures, which
    act on G by the mean of psi and on F by that of varphi.
    """
    rng = np.random.default_rng(seed)
    psi = rng.dirichlet(np.ones(FEATURES), size=STATES * ACTIONS)
    T = psi @ rng.dirichlet(np.ones(STATES), size=FEATURES)
    if not is_linear:
        T = softmax(10 * np.log(T))
    rng = np.random.default_rng([seed, 1])
    varphi = rng.normal(size=(STATES, FEATURES))
    means = T @ varphi  # E[varphi(X') | x, a]
    restricted = np.linalg.lstsq(psi[::2], means[::2], rcond=None)[0]
    measures = rng.normal(size=(5, len(psi)))
    return (
        relative_error(psi @ restricted, means),
        relative_error(measures @ psi @ restricted, measures @ T @ varphi),
    )


def averaging_error(seed: int, is_compatible: bool) -> float:
    """Prop. 4: how far P g lies from F, the products of two features, for a random g in G.

    It lies in F if pi(a|x) = <p_a, phi(x)>.
    """
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.ones(FEATURES), size=STATES)
    policy = phi @ rng.dirichlet(np.ones(ACTIONS), size=FEATURES)
    if not is_compatible:
        policy = softmax(10 * policy)
    rng = np.random.default_rng([seed, 1])
    h, v = rng.normal(size=FEATURES), rng.normal(size=ACTIONS)
    averaged = (phi @ h) * (policy @ v)  # (P g)(x) for g(x, a) = <h, phi(x)> v_a
    products = np.einsum("xi,xj->xij", phi, phi).reshape(STATES, -1)
    return relative_error(products @ np.linalg.lstsq(products, averaged, rcond=None)[0], averaged)


def relative_error(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(found - exact).max() / np.abs(exact).max())
