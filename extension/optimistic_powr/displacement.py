"""The displacement model: the transition operator of a smooth, deterministic box environment.

Where x' = x + d(x, a), the transition operator is composition with that map: (T f)(x, a) =
f(x + d(x, a)). Kernel ridge regression of the displacement and the reward, Eq. (10) with the
displacement as the function to be predicted, learns the map from far fewer transitions than the
conditional mean embedding of x' needs, since neighbouring states and other actions share it.

Values live on a spread of the visited states and are kriged between them. Where a state ends an
episode, the reward paid on termination does not belong to the smooth map: it is the value of the
terminal state. Where an action does (`endings.py`), its reward and the probability of termination
are functions of (x, a). Where steps are random, (T f)(x, a) is a mean over residuals of the map.
All cost is bounded: both the map and the values rest on a bounded number of centers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial import cKDTree

from optimistic_powr.endings import ended_by_action
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
# visited: a narrow kernel tells them from the others. Of fixed data an action is known so far from
# where it was taken, and not at all twice as far. Per dimension, as distances grow with it.
_SEARCH_BANDWIDTH = 0.1

# Two actions are this far apart for the map, in units of its bandwidth: they share most of it.
_ACTION_DISTANCE = 0.05

# The ridge of both regressions, as a share of the kernel's variance.
_RIDGE = 1e-8

# Sweeps end where they change no action value by more than this share of their range.
_SWEEP_TOLERANCE = 1e-4

# Ridges to choose from where targets are noisy. They are where the first of these predicts held-out
# ones better than interpolation does, by this factor unless most of their deviation is left, and
# where more is left than this share of their range. Fewer transitions say too little.
_RIDGES_IF_NOISY = (1e-3, 1e-2, 1e-1, 1.0, 1e-5, 1e-4)
_BETTER, _MOSTLY_NOISE = 0.95, 0.4
_ROUNDING = 1e-9  # what varies less is constant
_LEAST_NOISE = 1e-2
# Medians, since a wall or an edge is a jump of few steps; a normal deviation is so many of them.
_DEVIATIONS_PER_MEDIAN = 1.48
_HELD_OUT = 200
_LEAST_HELD_OUT = 100

_MAP_CENTERS = 600
_SMOOTH_CENTERS = 200
# Actions that may end an episode are known from so many transitions on, and held-out ones say
# whether their rewards are noisy.
_LEAST_ROWS_PER_DIMENSION = 2
_LEAST_ROWS = 20

# Residuals over which (T f)(x, a) is a mean.
_OUTCOMES = 8
_VALUE_CENTERS = 800
_TERMINAL_CENTERS = 200
_LANDMARKS = 64
_NEIGHBOURS = 16


class SmoothMap:
    """(x, a) -> targets: a linear trend plus kernel ridge regression.

    Where the targets are noisy the ridge is chosen by leave-one-out errors, and all transitions
    count; otherwise a spread of them is interpolated.
    """

    def __init__(
        self,
        states: NDArray,
        actions: NDArray,
        targets: NDArray,
        n_actions: int,
        least_held_out: int = _LEAST_HELD_OUT,
    ):
        self.n_actions, self._least_held_out = n_actions, least_held_out
        self._kernel = Matern52(_MAP_BANDWIDTH)
        self._of_action = _ACTION_DISTANCE * _MAP_BANDWIDTH / np.sqrt(2) * np.eye(n_actions)
        inputs = np.hstack([states, self._of_action[actions]])
        chosen = spread(inputs, _MAP_CENTERS)
        self._low, self._high = targets[chosen].min(axis=0), targets[chosen].max(axis=0)
        ridges = self._ridges(inputs[chosen], targets[chosen])
        self.is_noisy = ridges > _RIDGE
        self.residuals = np.zeros((len(inputs) if self.is_noisy.any() else 1, targets.shape[1]))
        # Of some of the targets: their numbers, centers, trend and coefficients.
        self._parts: list[tuple[NDArray, NDArray, NDArray, NDArray]] = []
        if not self.is_noisy.all():
            self._interpolate(inputs[chosen], targets[chosen], np.flatnonzero(~self.is_noisy))
        for ridge in np.unique(ridges[self.is_noisy]):
            centers = inputs[thinned(chosen, _SMOOTH_CENTERS)]
            self._smooth(inputs, centers, targets, np.flatnonzero(ridges == ridge), ridge)

    def _interpolate(self, centers: NDArray, targets: NDArray, columns: NDArray) -> None:
        inputs, targets = with_constant(centers), targets[:, columns]
        trend = np.linalg.lstsq(inputs, targets, rcond=None)[0]
        gram = self._kernel(centers, centers)
        gram[np.diag_indices_from(gram)] += _RIDGE
        coefficients = cho_solve(cho_factor(gram), targets - inputs @ trend)
        self._parts.append((columns, centers, trend, coefficients))

    def _smooth(
        self, inputs: NDArray, centers: NDArray, targets: NDArray, columns: NDArray, ridge: float
    ) -> None:
        """Least squares on all transitions in the span of the kernel at a few of them."""
        constant, targets = with_constant(inputs), targets[:, columns]
        trend = np.linalg.lstsq(constant, targets, rcond=None)[0]
        rest = targets - constant @ trend
        cross = self._kernel(inputs, centers)
        system = cross.T @ cross + ridge * self._kernel(centers, centers)
        system[np.diag_indices_from(system)] += _RIDGE * np.trace(system) / len(system)
        coefficients = cho_solve(cho_factor(system), cross.T @ rest)
        self.residuals[:, columns] = rest - cross @ coefficients
        self._parts.append((columns, centers, trend, coefficients))

    def _ridges(self, inputs: NDArray, targets: NDArray) -> NDArray:
        """For each target the least ridge, unless a larger one predicts much better."""
        if len(inputs) < self._least_held_out:
            return np.full(targets.shape[1], _RIDGE)
        few = thinned(np.arange(len(inputs)), _HELD_OUT)
        trend = with_constant(inputs[few])
        rest = targets[few] - trend @ np.linalg.lstsq(trend, targets[few], rcond=None)[0]
        eigenvalues, vectors = np.linalg.eigh(self._kernel(inputs[few], inputs[few]))
        rotated = vectors.T @ rest
        errors, typical = [], []
        for ridge in (_RIDGE, *_RIDGES_IF_NOISY):
            inverse = 1.0 / (np.maximum(eigenvalues, 0.0) + ridge)
            diagonal = (vectors**2) @ inverse
            held_out = vectors @ (inverse[:, None] * rotated) / diagonal[:, None]
            errors.append(np.sqrt((held_out**2).mean(axis=0)))
            typical.append(_DEVIATIONS_PER_MEDIAN * np.median(np.abs(held_out), axis=0))
        interpolated, smoothed, least = errors[0], errors[1], np.min(typical, axis=0)
        better = np.where(least > _MOSTLY_NOISE * targets.std(axis=0), 1.0, _BETTER)
        extent = np.ptp(targets, axis=0)
        is_noisy = (smoothed < better * interpolated) & (least > _LEAST_NOISE * extent)
        is_noisy &= extent > _ROUNDING * np.abs(targets).max(axis=0)
        ridges = np.array([_RIDGE, *_RIDGES_IF_NOISY])[np.argmin(errors, axis=0)]
        return np.where(is_noisy, ridges, _RIDGE)

    def __call__(self, states: NDArray) -> NDArray:
        """The targets of every action at n states, (n, n_actions, targets)."""
        n, d = states.shape
        every = np.empty((n, self.n_actions, d + self.n_actions))
        every[:, :, :d], every[:, :, d:] = states[:, None], self._of_action
        inputs = every.reshape(n * self.n_actions, d + self.n_actions)
        predicted = np.empty((len(inputs), len(self._low)))
        for columns, centers, trend, coefficients in self._parts:
            predicted[:, columns] = with_constant(inputs) @ trend
            predicted[:, columns] += expansion(self._kernel, inputs, centers, coefficients)
        # Beyond the data the trend may lead anywhere: no step is longer than those seen.
        np.clip(predicted, self._low, self._high, out=predicted)
        return predicted.reshape(n, self.n_actions, len(self._low))


class Outcomes:
    """(x, a) -> the reward, and the probability of termination by the action.

    Actions share nothing, since one may end what others do not. One that was hardly taken is worth
    `prior`.
    """

    def __init__(
        self, states: NDArray, actions: NDArray, paid: NDArray, n_actions: int, prior: float
    ):
        self._unknown = np.array([prior, 1.0])
        self._maps: list[SmoothMap | None] = []
        for action in range(n_actions):
            rows = actions == action
            n, one = rows.sum(), np.zeros(rows.sum(), int)
            is_known = n >= _LEAST_ROWS_PER_DIMENSION * (states.shape[1] + 1)
            self._maps.append(
                SmoothMap(states[rows], one, paid[rows], 1, least_held_out=_LEAST_ROWS)
                if is_known
                else None
            )

    def __call__(self, states: NDArray) -> tuple[NDArray, NDArray]:
        """Rewards and probabilities to go on of every action at n states, (n, n_actions)."""
        predicted = np.empty((len(states), len(self._maps), 2))
        for action, outcome in enumerate(self._maps):
            predicted[:, action] = self._unknown if outcome is None else outcome(states)[:, 0]
        return predicted[:, :, 0], 1.0 - predicted[:, :, 1]


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
    avoid_unvisited : whether actions far from where they were taken have the least value.
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
        avoid_unvisited: bool = False,
        step_size: float | None = None,
        mirror_steps: int | None = None,
        planning: Planning = MIRROR_DESCENT,
    ):
        states, actions, rewards, next_states, terminated = columns
        self.gamma, self.prior = gamma, prior
        self.scale = ranges(np.vstack([states, next_states]))
        states, next_states = states / self.scale, next_states / self.scale
        by_action = ended_by_action((states, actions, rewards, next_states, terminated))
        by_state = terminated & ~by_action
        # Where a state ends the episode, its step pays the usual reward, and the rest as the value
        # of that state.
        usual_reward = np.median(rewards if terminated.all() else rewards[~terminated])
        one_off = np.where(by_state & terminal_values, rewards - usual_reward, 0.0)
        steps = np.column_stack([next_states - states, rewards - one_off])
        self._outcomes: Outcomes | None = None
        if by_action.any():
            paid = np.column_stack([steps[:, -1], by_action])
            self._outcomes = Outcomes(states, actions, paid, n_actions, prior)
        # Where an action ended the episode, nothing came after it.
        moves = np.flatnonzero(~by_action) if not by_action.all() else np.arange(1)
        self.map = SmoothMap(states[moves], actions[moves], steps[moves], n_actions)
        self._noise = representatives(self.map.residuals[:, :-1], _OUTCOMES)
        self.is_random = self._outcomes is not None or len(self._noise) > 1
        has_learned = terminated.any() or np.ptp(rewards) > 0
        search_bandwidth = _SEARCH_BANDWIDTH * states.shape[1]
        self.kernel = kernel or Exponential(_VALUE_BANDWIDTH if has_learned else search_bandwidth)

        self._least_value, self._avoid_unvisited = value_range[0], avoid_unvisited
        self._taken = [states[actions == action] for action in range(n_actions)]

        # The last state is not the first of any transition yet, but is where the next one starts.
        visited = np.vstack([states, next_states[-1:][~terminated[-1:]]])
        self.visited = visited[spread(visited, _VALUE_CENTERS)]
        ends = np.flatnonzero(by_state)
        ends = ends[spread(next_states[ends], _TERMINAL_CENTERS)]
        self._ends, self._terminal_values = next_states[ends], one_off[ends] / gamma
        self._solve(value_range, step_size, mirror_steps, planning)

    def _solve(
        self,
        value_range: tuple[float, float],
        step_size: float | None,
        mirror_steps: int | None,
        planning: Planning,
    ) -> None:
        visited, terminal_values = self.visited, self._terminal_values
        self.centers = np.vstack([visited, self._ends])
        kriging = Kriging(
            self.kernel,
            self.centers,
            _RIDGE,
            n_landmarks=_LANDMARKS,
            n_neighbours=_NEIGHBOURS,
        )
        rewards, lasting, reached = self.look_ahead(visited)
        next_weights = kriging.weights(reached)
        residual = np.concatenate([np.zeros(len(visited)), terminal_values - self.prior])
        low, high = value_range
        value_range = (min([low, *terminal_values]), max([high, *terminal_values]))

        caution = self._caution(visited)
        action_values = np.full(rewards.shape, float(np.clip(self.prior, *value_range)))

        def sweep(policy: NDArray) -> NDArray:
            """One Bellman backup of the policy, from the action values of the last one."""
            nonlocal action_values
            residual[: len(visited)] = (policy * action_values).sum(axis=1) - self.prior
            after = np.clip(self.prior + next_weights @ residual, *value_range)
            backup = rewards + self.gamma * lasting * self._mean(after, rewards.shape)
            if caution is not None:
                backup += caution * (self._least_value - backup)
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

    def look_ahead(self, states: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Of every action at n states: rewards and probabilities to go on, (n, n_actions), and, row
        after row, the states that it may lead to."""
        predicted = self.map(states)
        rewards, lasting = predicted[:, :, -1], np.ones(predicted.shape[:2])
        if self._outcomes is not None:
            rewards, lasting = self._outcomes(states)
        reached = (states[:, None] + predicted[:, :, :-1])[:, :, None] + self._noise
        return rewards, lasting, reached.reshape(reached.size // states.shape[1], states.shape[1])

    def _mean(self, after: NDArray, shape: tuple[int, ...]) -> NDArray:
        """The mean over the states that an action may lead to."""
        return after.reshape(*shape, len(self._noise)).mean(axis=-1)

    def familiarity(self, states: NDArray) -> NDArray:
        """By scaled state and action, 1 near where the action was taken and 0 far from there."""
        radius = _SEARCH_BANDWIDTH * states.shape[1]
        distances = [
            cKDTree(taken).query(states)[0] if len(taken) else np.full(len(states), np.inf)
            for taken in self._taken
        ]
        return np.clip(2.0 - np.column_stack(distances) / radius, 0.0, 1.0)

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
        rewards, lasting, reached = self.look_ahead(scaled)
        after = self.prior + expansion(self.kernel, reached, self.centers, coefficients)
        backup = rewards + self.gamma * lasting * self._mean(after, rewards.shape)
        caution = self._caution(scaled)
        return backup if caution is None else backup + caution * (self._least_value - backup)

    def _caution(self, states: NDArray) -> NDArray | None:
        """How far the action values at scaled states count as unknown, None where all are known."""
        return 1.0 - self.familiarity(states) if self._avoid_unvisited else None


def ranges(states: NDArray) -> NDArray:
    """The range of each dimension, 1 where it does not vary."""
    extent = np.ptp(states, axis=0)
    return np.where(extent > 0, extent, 1.0)


def with_constant(inputs: NDArray) -> NDArray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])


def thinned(numbers: NDArray, n_most: int) -> NDArray:
    """At most `n_most` of them, evenly spaced."""
    return numbers[:: -(-len(numbers) // n_most)]


def representatives(residuals: NDArray, n_most: int) -> NDArray:
    """A few points with the mean 0 and the variances of the residuals.

    Residuals are sorted along their first principal axis, and each share of them has its middle.
    """
    deviations = residuals.std(axis=0)
    if not deviations.any():
        return np.zeros((1, residuals.shape[1]))
    axis = np.linalg.svd(np.cov(residuals.T, ddof=0).reshape(len(deviations), -1))[0][:, 0]
    order = np.argsort(residuals @ axis)
    n = min(n_most, len(order))
    points = residuals[order[(np.arange(n) * 2 + 1) * len(order) // (2 * n)]]
    points = points - points.mean(axis=0)
    spreads = points.std(axis=0)
    return points * np.divide(deviations, spreads, out=np.ones_like(spreads), where=spreads > 0)
