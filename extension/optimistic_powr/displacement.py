"""The displacement model: the transition operator of a smooth, deterministic box environment.

Where x' = x + d(x, a), the transition operator is composition with that map: (T f)(x, a) =
f(x + d(x, a)). Kernel ridge regression of the displacement and the reward, Eq. (10) with the
displacement as the function to be predicted, learns the map from far fewer transitions than the
conditional mean embedding of x' needs, since neighbouring states and other actions share it.

Values live on a spread of the visited states and are kriged between them. A reward that is paid on
termination does not belong to the smooth map: it is the value of the terminal state. All cost is
bounded: both the map and the values rest on a bounded number of centers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from optimistic_powr.growing_steps import MIRROR_DESCENT, Planning, repeated, settle
from optimistic_powr.kriging import Kriging, spread
from powr.data import Columns
from powr.kernels import Exponential, Matern52, Stationary, expansion
from powr.validation import check_states

# Bandwidths in units of the range of the visited states. The map is smooth, the values are not; an
# exponential kernel wider than the data interpolates alike for every bandwidth.
_MAP_BANDWIDTH = 2.0
_VALUE_BANDWIDTH = 2.0

# Until a reward has varied or an episode has terminated, all there is to learn is which states were
# visited: a narrow kernel tells them from the others. Per dimension, as distances grow with it.
_SEARCH_BANDWIDTH = 0.1

# Two actions are this far apart for the map, in units of its bandwidth: they share most of it.
_ACTION_DISTANCE = 0.05

# The ridge of both regressions, as a share of the kernel's variance.
_RIDGE = 1e-8

# Sweeps end where they change no action value by more than this share of their range.
_SWEEP_TOLERANCE = 1e-4

_MAP_CENTERS = 600
_VALUE_CENTERS = 800
_TERMINAL_CENTERS = 200
_LANDMARKS = 64
_NEIGHBOURS = 16


class DisplacementMap:
    """(x, a) -> displacement and reward: a linear trend plus kernel ridge regression."""

    def __init__(self, states: NDArray, actions: NDArray, targets: NDArray, n_actions: int):
        self.n_actions = n_actions
        self._kernel = Matern52(_MAP_BANDWIDTH)
        self._of_action = _ACTION_DISTANCE * _MAP_BANDWIDTH / np.sqrt(2) * np.eye(n_actions)
        inputs = np.hstack([states, self._of_action[actions]])
        chosen = spread(inputs, _MAP_CENTERS)
        self._centers, targets = inputs[chosen], targets[chosen]
        trend = with_constant(self._centers)
        self._trend = np.linalg.lstsq(trend, targets, rcond=None)[0]
        gram = self._kernel(self._centers, self._centers)
        gram[np.diag_indices_from(gram)] += _RIDGE
        self._coefficients = cho_solve(cho_factor(gram), targets - trend @ self._trend)
        self._low, self._high = targets.min(axis=0), targets.max(axis=0)

    def __call__(self, states: NDArray) -> NDArray:
        """Displacement and reward of every action at n states, (n, n_actions, d + 1)."""
        n, d = states.shape
        every = np.empty((n, self.n_actions, d + self.n_actions))
        every[:, :, :d], every[:, :, d:] = states[:, None], self._of_action
        inputs = every.reshape(n * self.n_actions, d + self.n_actions)
        predicted = with_constant(inputs) @ self._trend
        predicted += expansion(self._kernel, inputs, self._centers, self._coefficients)
        # Beyond the data the trend may lead anywhere: no step is longer than those seen.
        np.clip(predicted, self._low, self._high, out=predicted)
        return predicted.reshape(n, self.n_actions, d + 1)


class DisplacementModel:
    """A learned map, and the values of the best policy in it.

    Parameters
    ----------
    columns : the transitions.
    n_actions : number of actions, numbered from 0.
    gamma : the discount factor.
    prior : the value of what lies far from everything seen.
    value_range : the least and the largest value that rewards allow.
    kernel : of the values; default: exponential, wider than the data once anything was learned.
    terminal_values : whether a reward paid on termination is the value of the terminal state, which
        otherwise is 0.
    step_size, mirror_steps, planning : of mirror descent, see `settle`.
    """

    def __init__(
        self,
        columns: Columns,
        n_actions: int,
        *,
        gamma: float,
        prior: float,
        value_range: tuple[float, float],
        kernel: Stationary | None = None,
        terminal_values: bool = True,
        step_size: float | None = None,
        mirror_steps: int | None = None,
        planning: Planning = MIRROR_DESCENT,
    ):
        states, actions, rewards, next_states, terminated = columns
        self.gamma, self.prior = gamma, prior
        self.scale = ranges(np.vstack([states, next_states]))
        states, next_states = states / self.scale, next_states / self.scale
        # A terminating step pays the usual reward, and the rest as the value of its terminal state.
        usual_reward = np.median(rewards if terminated.all() else rewards[~terminated])
        one_off = np.where(terminated & terminal_values, rewards - usual_reward, 0.0)
        targets = np.column_stack([next_states - states, rewards - one_off])
        self.map = DisplacementMap(states, actions, targets, n_actions)
        has_learned = terminated.any() or np.ptp(rewards) > 0
        search_bandwidth = _SEARCH_BANDWIDTH * states.shape[1]
        self.kernel = kernel or Exponential(_VALUE_BANDWIDTH if has_learned else search_bandwidth)

        # The last state is not the first of any transition yet, but is where the next one starts.
        visited = np.vstack([states, next_states[-1:][~terminated[-1:]]])
        visited = visited[spread(visited, _VALUE_CENTERS)]
        ends = np.flatnonzero(terminated)
        ends = ends[spread(next_states[ends], _TERMINAL_CENTERS)]
        self.centers = np.vstack([visited, next_states[ends]])
        self._solve(visited, one_off[ends] / gamma, value_range, step_size, mirror_steps, planning)

    def _solve(
        self,
        visited: NDArray,
        terminal_values: NDArray,
        value_range: tuple[float, float],
        step_size: float | None,
        mirror_steps: int | None,
        planning: Planning,
    ) -> None:
        kriging = Kriging(
            self.kernel,
            self.centers,
            _RIDGE,
            n_landmarks=_LANDMARKS,
            n_neighbours=_NEIGHBOURS,
        )
        rewards, reached = self._look_ahead(visited)
        next_weights = kriging.weights(reached)
        residual = np.concatenate([np.zeros(len(visited)), terminal_values - self.prior])
        low, high = value_range
        value_range = (min([low, *terminal_values]), max([high, *terminal_values]))

        action_values = np.full(rewards.shape, float(np.clip(self.prior, *value_range)))

        def sweep(policy: NDArray) -> NDArray:
            """One Bellman backup of the policy, from the action values of the last one."""
            nonlocal action_values
            residual[: len(visited)] = (policy * action_values).sum(axis=1) - self.prior
            after = np.clip(self.prior + next_weights @ residual, *value_range)
            backup = rewards + self.gamma * after.reshape(rewards.shape)
            action_values = np.asfortranarray(backup)  # so that sums over actions are quick
            return action_values

        evaluate = repeated(sweep, _SWEEP_TOLERANCE) if planning.exact else sweep
        summed = np.zeros(len(self.centers))

        def evaluate_and_sum(policy: NDArray) -> NDArray:
            nonlocal summed
            evaluated = evaluate(policy)
            summed += residual
            return evaluated

        self.settled = settle(
            evaluate_and_sum,
            rewards.shape,
            tolerance=_SWEEP_TOLERANCE,
            step_size=step_size,
            mirror_steps=mirror_steps,
            growth=planning.growth,
        )
        self.values = residual + self.prior
        gram = self.kernel(self.centers, self.centers)
        gram[np.diag_indices_from(gram)] += _RIDGE
        factor = cho_factor(gram)
        self._coefficients = cho_solve(factor, self.values - self.prior)
        # Action values are linear in values: a sum of them over steps is one of the mean values.
        self._sharpness, self._policy_coefficients = self.settled.step_size, self._coefficients
        if step_size is not None:
            self._sharpness *= self.settled.n_steps
            self._policy_coefficients = cho_solve(factor, summed / self.settled.n_steps)

    def _look_ahead(self, states: NDArray) -> tuple[NDArray, NDArray]:
        """Rewards (n, n_actions) and, row after row, the states that each action leads to."""
        predicted = self.map(states)
        reached = states[:, None] + predicted[:, :, :-1]
        return predicted[:, :, -1], reached.reshape(-1, states.shape[1])

    def action_values(self, states: ArrayLike) -> NDArray:
        """q = r + gamma T v at n states, (n, n_actions)."""
        return self._back_up(states, self._coefficients)

    def __call__(self, states: ArrayLike) -> NDArray:
        """The exponents of the policy, (n, n_actions): Eq. (15).

        Of steps that grow the last outweighs the others, and is taken alone.
        """
        return self._sharpness * self._back_up(states, self._policy_coefficients)

    def _back_up(self, states: ArrayLike, coefficients: NDArray) -> NDArray:
        scaled = check_states(states, shape=self.centers.shape[1:]) / self.scale
        rewards, reached = self._look_ahead(scaled)
        after = self.prior + expansion(self.kernel, reached, self.centers, coefficients)
        return rewards + self.gamma * after.reshape(rewards.shape)


def ranges(states: NDArray) -> NDArray:
    """The range of each dimension, 1 where it does not vary."""
    extent = np.ptp(states, axis=0)
    return np.where(extent > 0, extent, 1.0)


def with_constant(inputs: NDArray) -> NDArray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])
