"""Environments of the study that Gymnasium lacks; importing this package registers them.

>>> import gymnasium
>>> env = gymnasium.make("tasks:Navigation-v0")
>>> env.action_space
Discrete(4)
"""

import gymnasium

from tasks.navigation import Navigation
from tasks.noise import NoisyCartPole, NoisyMountainCar
from tasks.operations import Inventory, Maintenance, Pricing, QueueAdmission
from tasks.operations_boxes import Offers, PutOption, StoppingCart, Thermostat
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

# Held out, the finite half of the operations tasks.
gymnasium.register(
    "Inventory-v0",
    Inventory,
    max_episode_steps=60,
    kwargs={
        "capacity": 25,
        "largest_order": 12,
        "demand": 5.0,
        "order": 4.0,
        "unit": 1.0,
        "held": 0.3,
        "missed": 5.0,
    },
)
gymnasium.register(
    "Maintenance-v0",
    Maintenance,
    max_episode_steps=100,
    kwargs={"levels": 10, "income": 10.0, "breaks": 0.02, "service": 6.0, "replacement": 25.0},
)
gymnasium.register(
    "QueueAdmission-v0",
    QueueAdmission,
    max_episode_steps=100,
    kwargs={
        "room": 12,
        "fees": (1.0, 4.0, 10.0),
        "shares": (0.5, 0.3, 0.2),
        "served": 0.4,
        "waiting": 0.3,
    },
)
gymnasium.register(
    "Pricing-v0",
    Pricing,
    max_episode_steps=40,
    kwargs={"seats": 20, "prices": 50, "middle": 25.0, "spread": 6.0},
)

# Operations in a box, written before OptimisticPOWR learned such tasks, and never tuned on.
gymnasium.register("PutOption-v0", PutOption, kwargs={"volatility": 0.1, "maturity": 30})
gymnasium.register("Offers-v0", Offers, kwargs={"n_offers": 4, "n_features": 3})
gymnasium.register("Thermostat-v0", Thermostat, max_episode_steps=100, kwargs={"noise": 0.5})
gymnasium.register(
    "StoppingCart-v0",
    StoppingCart,
    max_episode_steps=200,
    kwargs={"platform": 1.6, "crash": 100.0},
)
