"""PPO from stable-baselines3."""

import stable_baselines3

from baselines.deep.stable import StableBaseline


class PPO(StableBaseline):
    model_class = stable_baselines3.PPO
