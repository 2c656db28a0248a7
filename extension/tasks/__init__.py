"""Environments of the study that Gymnasium lacks; importing this package registers them.

>>> import gymnasium
>>> env = gymnasium.make("tasks:Navigation-v0")
>>> env.action_space
Discrete(4)
"""

import gymnasium

from tasks.navigation import Navigation
from tasks.noise import NoisyCartPole, NoisyMountainCar
from tasks.pendulum import PendulumTorques

# OptimisticPOWR was developed on the first of these two; the second is held out.
gymnasium.register(
    "Navigation-v0",
    Navigation,
    max_episode_steps=200,
    kwargs={"move": 0.08, "goal": (0.8, 0.8), "radius": 0.07},
)
gymnasium.register(
    "NavigationWall-v0",
    Navigation,
    max_episode_steps=200,
    kwargs={"move": 0.06, "goal": (0.75, 0.25), "radius": 0.05, "wall": (0.5, 0.6)},
)
gymnasium.register(
    "PendulumTorques-v0", PendulumTorques, max_episode_steps=200, kwargs={"torques": 5}
)
gymnasium.register("NoisyMountainCar-v0", NoisyMountainCar, max_episode_steps=200)
gymnasium.register("NoisyCartPole-v0", NoisyCartPole, max_episode_steps=500)
