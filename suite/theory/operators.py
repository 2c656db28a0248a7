"""Props. 2 and 4 on explicit features: mean embeddings, and what separable spaces hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.mirror_descent import softmax

# More states than the features, or their products, have dimensions, so that F and G do not hold
# everything.
STATES, FEATURES, ACTIONS = 60, 4, 3


def linear_mdp(seed: int) -> tuple[NDArray, NDArray]:
    """Features psi of the pairs, (n, m), and transition probabilities T = psi mu: Asm. 1 holds."""
    rng = np.random.default_rng(seed)
    psi = rng.dirichlet(np.ones(FEATURES), size=STATES * ACTIONS)
    return psi, psi @ rng.dirichlet(np.ones(STATES), size=FEATURES)


def nonlinear_mdp(seed: int) -> tuple[NDArray, NDArray]:
    """The same features, and transition probabilities that are no linear function of them."""
    psi, T = linear_mdp(seed)
    return psi, softmax(10 * np.log(T))


def embedding_errors(psi: NDArray, T: NDArray, seed: int) -> tuple[float, float]:
    """Prop. 2, largest relative errors: of Eq. (9), and of (T|_F)^* = (T^*)|_G.

    The matrix of T|_F, from R^m to R^m, is fitted to half of the pairs; its adjoint is its
    transpose. Eq. (9) is asked of all pairs. The second identity is asked of random signed
    measures, which act on G by the mean of psi and on F by that of varphi.
    """
    rng = np.random.default_rng([seed, 1])
    varphi = rng.normal(size=(STATES, FEATURES))
    half = slice(None, None, 2)
    restricted = np.linalg.lstsq(psi[half], T[half] @ varphi, rcond=None)[0]
    means = T @ varphi  # E[varphi(X') | x, a]
    measures = rng.normal(size=(5, len(psi)))
    moved = measures @ T @ varphi  # the mean of varphi under T^* of the measure
    return (
        float(np.abs(psi @ restricted - means).max() / np.abs(means).max()),
        float(np.abs(measures @ psi @ restricted - moved).max() / np.abs(moved).max()),
    )


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
