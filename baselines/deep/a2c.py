"""A2C from stable-baselines3."""

import stable_baselines3

from baselines.deep.stable import StableBaseline


class A2C(StableBaseline):
    model_class = stable_baselines3.A2C
