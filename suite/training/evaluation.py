"""The evaluation protocol: the same episodes at the same timesteps for every algorithm.

Evaluation has environments and a random stream of its own. Each evaluation draws the seeds of its
episodes from that stream, so all algorithms with one run seed face the same starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from suite.training import environments

Policy = Callable[[np.ndarray], np.ndarray]  # a batch of observations -> their actions


class Evaluation(NamedTuple):
    """One row of a run file, but for its timestep; None where the environment has no table."""

    mean: float
    std: float
    min: float
    max: float
    episodes: int
    exact_return: float | None
    sampled_mean: float | None = None
    sampled_exact_return: float | None = None


COLUMNS = ("timestep", *Evaluation._fields)


def grid(timesteps: int, first: int, per_decade: int, n_envs: int = 1) -> list[int]:
    """Log-spaced timesteps from `first` on, and the end of the run.

    Where `n_envs` environments are stepped at once, a point inside such a step is moved to its end.
    """
    points: list[int] = []
    while (point := round(first * 10 ** (len(points) / per_decade))) < timesteps:
        points.append(point)
    return list(dict.fromkeys(-(-point // n_envs) * n_envs for point in [*points, timesteps]))


def planned_grid(settings: dict[str, Any]) -> list[int]:
    """The timesteps at which a run with these settings is evaluated."""
    protocol = settings["evaluation"]
    n_envs = settings["algorithm"]["settings"].get("n_envs", 1)
    return grid(settings["timesteps"], protocol["first"], protocol["per_decade"], n_envs)


def play(envs: Sequence[gymnasium.Env], policy: Policy, seeds: Iterable[int]) -> np.ndarray:
    """Returns of one episode per environment, stepped as one batch."""
    observations = [env.reset(seed=int(seed))[0] for env, seed in zip(envs, seeds, strict=True)]
    returns = np.zeros(len(envs))
    running = list(range(len(envs)))
    while running:
        actions = policy(np.stack([observations[i] for i in running]))
        unfinished = []
        for i, action in zip(running, actions, strict=True):
            observations[i], reward, terminated, truncated, _ = envs[i].step(action)
            returns[i] += reward
            if not (terminated or truncated):
                unfinished.append(i)
        running = unfinished
    return returns


class Evaluator:
    """Evaluates one run's agent, which has SB3's `predict`, at each point of the grid.

    Args:
        settings: those of the environment, as resolved from envs.yaml.
        episodes: how many an evaluation plays.
        seed: of the deterministic policy's episodes.
        sampled_seed: of the sampled policy's episodes and actions; None to leave it out. An agent
            whose sampled policy is evaluated has `action_probabilities`.
        shared_from: the timestep from which the streams are those of all algorithms; evaluations
            before it have streams of their own.
        run_seed: the seed of the run, for environments with fixed starts.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        episodes: int,
        seed: int,
        sampled_seed: int | None,
        shared_from: int = 0,
        run_seed: int | None = None,
    ) -> None:
        self.envs = [environments.make(settings, run_seed) for _ in range(episodes)]
        self.records_sampled = sampled_seed is not None
        seeds = (seed, sampled_seed or 0)
        self.streams = {
            is_early: [np.random.default_rng([each, 1] if is_early else each) for each in seeds]
            for is_early in (True, False)
        }
        self.shared_from = shared_from
        self.action_space: Any = self.envs[0].action_space
        self.mdp = environments.tabular(self.envs[0])

    def evaluate(self, agent: Any, timestep: int) -> Evaluation:
        rng, sampled_rng = self.streams[timestep < self.shared_from]
        start, n_actions = self.action_space.start, self.action_space.n

        def greedy(observations: np.ndarray) -> np.ndarray:
            return agent.predict(observations, deterministic=True)[0]

        def sampled(observations: np.ndarray) -> np.ndarray:
            return start + draw(agent.action_probabilities(observations), sampled_rng)

        returns = self._play(greedy, rng)
        result = Evaluation(
            mean=float(returns.mean()),
            std=float(returns.std()),
            min=float(returns.min()),
            max=float(returns.max()),
            episodes=len(returns),
            exact_return=self._exact(lambda states: np.eye(n_actions)[greedy(states) - start]),
        )
        if not self.records_sampled:
            return result
        return result._replace(
            sampled_mean=float(self._play(sampled, sampled_rng).mean()),
            sampled_exact_return=self._exact(agent.action_probabilities),
        )

    def _play(self, policy: Policy, rng: np.random.Generator) -> np.ndarray:
        return play(self.envs, policy, rng.integers(2**31, size=len(self.envs)))

    def _exact(self, probabilities: Callable[[np.ndarray], np.ndarray]) -> float | None:
        if self.mdp is None:
            return None
        states = np.arange(self.mdp.n_states)
        return float(self.mdp.expected_return(probabilities(states)))


def draw(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One action per row, by inversion of the cumulative probabilities."""
    cumulative = probabilities.cumsum(axis=1)
    uniform = rng.random((len(probabilities), 1)) * cumulative[:, -1:]
    return (cumulative <= uniform).sum(axis=1)
