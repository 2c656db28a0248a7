"""Ridge LSTD-Q on explicit features: the primal form of the estimator of Prop. 3."""

from __future__ import annotations

import numpy as np


def lstd_q(
    features: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    next_features: np.ndarray,
    next_policy: np.ndarray,
    terminated: np.ndarray,
    *,
    gamma: float,
    regularization: float,
) -> np.ndarray:
    """Weights w of shape (|A|, m) such that q(x, a) = phi(x) . w[a].

    With psi(x, a) = e_a (x) phi(x) (Prop. 4) they solve
    (sum_i psi_i (psi_i - gamma (1 - d_i) E_pi psi(x'_i, .))^T + n lambda I) w = sum_i psi_i r_i.
    """
    n, m = features.shape
    n_actions = next_policy.shape[1]
    one_hot = np.eye(n_actions)
    A = n * regularization * np.eye(n_actions * m)
    b = np.zeros(n_actions * m)
    for i in range(n):
        psi = np.kron(one_hot[actions[i]], features[i])
        psi_next = np.kron(next_policy[i], next_features[i])
        A += np.outer(psi, psi - gamma * (1 - float(terminated[i])) * psi_next)
        b += psi * rewards[i]
    return (np.linalg.inv(A) @ b).reshape(n_actions, m)
