"""DQN from stable-baselines3."""

import numpy as np
import stable_baselines3

from baselines.deep.stable import StableBaseline


class DQN(StableBaseline):
    model_class = stable_baselines3.DQN
    samples_to_explore = True  # its policy is the greedy one

    def action_probabilities(self, observations: np.ndarray) -> np.ndarray:
        """The epsilon-greedy policy that collects the data."""
        n_actions = self.model.action_space.n
        greedy = np.eye(n_actions)[self.predict(observations, deterministic=True)[0]]
        exploring = self.model.exploration_rate
        return (1 - exploring) * greedy + exploring / n_actions
