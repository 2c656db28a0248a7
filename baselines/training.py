"""Build and train a baseline so that it depends on its two seeds and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import torch
from sb3_contrib import TRPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

CLASSES: dict[str, type[BaseAlgorithm]] = {"a2c": A2C, "dqn": DQN, "ppo": PPO, "trpo": TRPO}

Callback = Callable[[BaseAlgorithm], bool]  # called after every timestep; True stops the training


class StepCallback(BaseCallback):
    """Passes the model on after every timestep and stops at once when told to."""

    def __init__(self, callback: Callback) -> None:
        super().__init__()
        self._callback = callback

    def _on_step(self) -> bool:
        return not self._callback(self.model)


def build(
    class_name: str,
    policy: str,
    settings: dict[str, Any],
    env: gymnasium.Env,
    *,
    agent_seed: int,
    training_seed: int,
) -> BaseAlgorithm:
    """A model on one CPU thread; the environment's seed takes effect at its first reset."""
    torch.set_num_threads(1)
    # A tenth of the time; a policy of NaNs still ends the run, when its action is drawn.
    torch.distributions.Distribution.set_default_validate_args(False)
    model = CLASSES[class_name](policy, env, seed=agent_seed, device="cpu", **settings)
    # The model's seed has seeded the environment too.
    model.get_env().seed(training_seed)
    return model


def learn(model: BaseAlgorithm, timesteps: int, callback: Callback) -> None:
    """Train for exactly `timesteps` unless the callback stops earlier.

    The libraries finish a started rollout, which may lie past the last timestep.
    """

    def stop(model: BaseAlgorithm) -> bool:
        return callback(model) or model.num_timesteps >= timesteps

    model.learn(timesteps, callback=StepCallback(stop))
