"""TRPO from sb3-contrib."""

import sb3_contrib

from baselines.deep.stable import StableBaseline


class TRPO(StableBaseline):
    model_class = sb3_contrib.TRPO
