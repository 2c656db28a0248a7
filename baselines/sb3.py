"""A2C, DQN, PPO and TRPO of the libraries, trained so that only the two seeds matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


class StableBaseline:
    """A stable-baselines3 model on one CPU thread, with its training environments.

    A subclass sets its model as `model_class`.

    Args:
        policy: the name of the model's policy class.
        make_env: makes one training environment.
        agent_seed: seeds the model.
        training_seed: seeds the environments, from their first reset on.
        n_envs: number of copies of the environment that are stepped in parallel.
        normalize: whether observations and rewards are scaled by their running mean and variance.
            Evaluation uses the training statistics without updating them.
        schedule_timesteps: the budget used for schedules such as DQN's exploration; None for the
            budget of `learn`.
        settings: further arguments of the model. A string such as `lin_0.001`, the zoo's notation,
            is a schedule that decays linearly from this value to 0 at the end of the budget.
    """

    model_class: ClassVar[type[BaseAlgorithm]]

    def __init__(
        self,
        policy: str,
        make_env: Callable[[], gymnasium.Env],
        *,
        agent_seed: int,
        training_seed: int,
        n_envs: int = 1,
        normalize: bool = False,
        schedule_timesteps: int | None = None,
        **settings: Any,
    ) -> None:
        torch.set_num_threads(1)
        # Validation takes a tenth of the time; a policy of NaNs still fails when it is sampled.
        torch.distributions.Distribution.set_default_validate_args(False)
        env = DummyVecEnv([make_env] * n_envs)
        gamma = settings.get("gamma", 0.99)
        self._normalizer = VecNormalize(env, gamma=gamma) if normalize else None
        self.model = self.model_class(
            policy, self._normalizer or env, seed=agent_seed, device="cpu", **scheduled(settings)
        )
        # The model's constructor has seeded the environments with its own seed.
        self.model.get_env().seed(training_seed)
        self._schedule_timesteps = schedule_timesteps

    @property
    def num_timesteps(self) -> int:
        return self.model.num_timesteps

    def learn(self, timesteps: int, callback: Callable[[StableBaseline], bool]) -> StableBaseline:
        """Train for `timesteps`; the callback stops training earlier by returning False.

        The callback is called after each step of all environments. The libraries would finish the
        current rollout beyond `timesteps`; this stops at the first step that reaches it.
        """

        def should_continue(*_: Any) -> bool:
            return callback(self) is not False and self.num_timesteps < timesteps

        self.model.learn(self._schedule_timesteps or timesteps, callback=should_continue)
        return self

    def predict(self, observations: np.ndarray, deterministic: bool = True) -> tuple[Any, None]:
        return self.model.predict(self._scaled(observations), deterministic=deterministic)[0], None

    def action_probabilities(self, observations: np.ndarray) -> np.ndarray:
        """The policy that collects the data."""
        policy = self.model.policy
        with torch.no_grad():
            distribution = policy.get_distribution(
                policy.obs_to_tensor(self._scaled(observations))[0]
            ).distribution
        probabilities = distribution.probs.numpy().astype(float)
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def _scaled(self, observations: np.ndarray) -> np.ndarray:
        return self._normalizer.normalize_obs(observations) if self._normalizer else observations


class A2C(StableBaseline):
    model_class = stable_baselines3.A2C


class PPO(StableBaseline):
    model_class = stable_baselines3.PPO


class TRPO(StableBaseline):
    model_class = sb3_contrib.TRPO


class DQN(StableBaseline):
    model_class = stable_baselines3.DQN

    def action_probabilities(self, observations: np.ndarray) -> np.ndarray:
        """The epsilon-greedy policy that collects the data."""
        n_actions = self.model.action_space.n
        greedy = np.eye(n_actions)[self.predict(observations, deterministic=True)[0]]
        exploring = self.model.exploration_rate
        return (1 - exploring) * greedy + exploring / n_actions


def scheduled(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a linear schedule in place of each `lin_...`."""
    return {
        name: LinearSchedule(float(value.removeprefix("lin_")), 0.0, 1.0)
        if isinstance(value, str) and value.startswith("lin_")
        else value
        for name, value in settings.items()
    }
