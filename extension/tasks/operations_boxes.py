"""Operations in a box: a stopping decision, a bandit, a thermostat, and a cart that must stop."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

Step = tuple[np.ndarray, float, bool, bool, dict[str, Any]]
WAIT, EXERCISE = 0, 1


class PutOption(gymnasium.Env):
    """Wait, or exercise a put option once: it pays the strike minus the price, if that is positive.

    The logarithm of the price is a Gaussian random walk from a price near the strike of 1. The
    option expires after `maturity` steps and then pays nothing. Observations are the price and the
    share of the time that is left.

    Args:
        volatility: standard deviation of a step of the walk.
        maturity: number of steps.
    """

    def __init__(self, volatility: float, maturity: int) -> None:
        self.observation_space = Box(np.float32([0.0, 0.0]), np.float32([10.0, 1.0]))
        self.action_space = Discrete(2)
        self.volatility, self.maturity = volatility, maturity

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.price, self.time = self.np_random.uniform(0.9, 1.1), 0
        return self._observation(), {}

    def step(self, action: int) -> Step:
        if action == EXERCISE:
            return self._observation(), max(1.0 - self.price, 0.0), True, False, {}
        self.price = min(self.price * np.exp(self.np_random.normal(0.0, self.volatility)), 10.0)
        self.time += 1
        return self._observation(), 0.0, self.time == self.maturity, False, {}

    def _observation(self) -> np.ndarray:
        return np.array([self.price, 1.0 - self.time / self.maturity], np.float32)


class Offers(gymnasium.Env):
    """One of `n_offers` is shown to a customer, who buys or not; the next episode is another one.

    Offer k has a direction in the plane of the customer's first two features, evenly spaced; the
    one whose direction is closest to the customer's is bought with probability 0.9, others with
    0.1. Further features are irrelevant.

    Args:
        n_offers: number of offers.
        n_features: of a customer, at least 2, each uniform in [-1, 1].
    """

    def __init__(self, n_offers: int, n_features: int) -> None:
        self.observation_space = Box(-1.0, 1.0, (n_features,), np.float32)
        self.action_space = Discrete(n_offers)
        angles = 0.4 + 2 * np.pi * np.arange(n_offers) / n_offers
        self.directions = np.column_stack([np.cos(angles), np.sin(angles)])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.features = self.np_random.uniform(-1.0, 1.0, self.observation_space.shape)
        return self.features.astype(np.float32), {}

    def best(self, features: np.ndarray) -> int:
        """The offer that this customer is most likely to buy."""
        return int((self.directions @ features[:2]).argmax())

    def step(self, action: int) -> Step:
        probability = 0.9 if action == self.best(self.features) else 0.1
        bought = bool(self.np_random.random() < probability)
        return self.features.astype(np.float32), float(bought), True, False, {}


class Thermostat(gymnasium.Env):
    """Heat a room off, half or fully; being off 20 degrees and heating both cost.

    The room loses a tenth of its difference to the outside per step and gains 3 degrees at full
    heat. Outside it is 5 degrees, plus noise that decays by a tenth per step. Observations are both
    temperatures.

    Args:
        noise: standard deviation of the noise of the room, in degrees; that of the outside is
            twice as large.
    """

    HEAT = np.array([0.0, 1.5, 3.0])

    def __init__(self, noise: float) -> None:
        self.observation_space = Box(-100.0, 100.0, (2,), np.float32)
        self.action_space = Discrete(len(self.HEAT))
        self.noise = noise

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.room, self.outside = self.np_random.uniform(10.0, 30.0), 5.0
        return self._observation(), {}

    def step(self, action: int) -> Step:
        self.room += 0.1 * (self.outside - self.room) + self.HEAT[action]
        self.room += self.np_random.normal(0.0, self.noise)
        self.outside += 0.1 * (5.0 - self.outside) + self.np_random.normal(0.0, 2 * self.noise)
        cost = 0.1 * abs(self.room - 20.0) + 0.02 * self.HEAT[action]
        return self._observation(), -float(cost), False, False, {}

    def _observation(self) -> np.ndarray:
        return np.clip([self.room, self.outside], -100.0, 100.0).astype(np.float32)


class StoppingCart(gymnasium.Env):
    """Push a cart left or right, or let it roll, until it stands still at a platform.

    Every step costs 1. The episode ends where the cart is within 0.1 of the platform, slower than
    0.05 per step, or where it hits a buffer at the end of the track of length 2, which costs
    `crash` more. Starts are at rest in the left fifth. Observations are position and velocity.

    Args:
        platform: its position.
        crash: cost of hitting a buffer.
    """

    PUSH = 0.01

    def __init__(self, platform: float, crash: float) -> None:
        self.observation_space = Box(np.float32([-0.5, -0.5]), np.float32([2.5, 0.5]))
        self.action_space = Discrete(3)
        self.platform, self.crash = platform, crash

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = np.array([self.np_random.uniform(0.1, 0.4), 0.0])
        return self.state.astype(np.float32), {}

    def step(self, action: int) -> Step:
        position, velocity = self.state
        velocity = np.clip(velocity + self.PUSH * (action - 1), -0.3, 0.3)
        self.state = np.array([position + velocity, velocity])
        crashed = not 0.0 < self.state[0] < 2.0
        stopped = abs(self.state[0] - self.platform) < 0.1 and abs(velocity) < 0.05
        reward = -1.0 - self.crash * crashed
        return self.state.astype(np.float32), reward, bool(crashed or stopped), False, {}
