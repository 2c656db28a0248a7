"""What every agent shares: an environment, its data, data collection, prediction and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.data import History
from powr.environments.interface import Interface
from powr.environments.spaces import refuse_reset
from powr.kernels import Kernel
from powr.policy import Policy
from powr.progress import Progress
from powr.validation import check_count, check_seed

Callback = Callable[[Any], Any]


class Agent:
    """What POWR and its extension share: an environment, its data, and a policy that acts.

    While `learn` runs, the environment is the agent's.

    Parameters
    ----------
    env : gymnasium.Env or str
    seed : int or None
    """

    n_plans_: int
    kernel: Kernel | None

    def __init__(self, env: gymnasium.Env | str, seed: int | None):
        self.seed = check_seed(seed)
        self._interface = Interface(env)
        self.n_actions = self._interface.n_actions
        self.data = History(self._interface.observations.shape)
        training, prediction = np.random.SeedSequence(self.seed).spawn(2)
        self._generator = np.random.default_rng(training)
        self._prediction_generator = np.random.default_rng(prediction)

    env = property(lambda self: self._interface.env)
    observation_space = property(lambda self: self.env.observation_space)
    action_space = property(lambda self: self.env.action_space)
    num_timesteps = property(lambda self: self.data.size)

    @property
    def episode_returns(self) -> list[float]:
        """The return of each finished episode."""
        rewards = self.data.columns()[2]
        return [float(rewards[start:stop].sum()) for start, stop in self.data.episodes()]

    def __repr__(self) -> str:
        name = self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__
        return f"<{type(self).__name__} on {name}, {self.num_timesteps:,} timesteps>"

    def learn(
        self,
        total_timesteps: int,
        callback: Callback | None = None,
        progress_bar: bool = False,
    ) -> Self:
        """Take `total_timesteps` more steps in the environment and learn from them.

        Each call starts a new episode; the transitions of an episode left open at the end are kept.
        After an interrupt, such as Ctrl-C, all whole transitions are kept, and the policy is the
        one before or after an update.

        Parameters
        ----------
        total_timesteps : int
        callback : callable, default=None
            Called with the agent after every step; training stops if it returns False.
        progress_bar : bool, default=False
            Needs tqdm.
        """
        raise NotImplementedError

    def _collect(
        self, total_timesteps: int, callback: Callback | None, progress_bar: bool
    ) -> Iterator[tuple[tuple, bool]]:
        """Play episodes with the current policy and add their transitions to the data.

        Yields each transition, and whether it was the last of its episode, once it is stored. The
        callback is called when the caller asks for the next one.
        """
        goal = self.num_timesteps + check_count(total_timesteps, "total_timesteps")
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of the agent, got {callback!r}: give one such as "
                "`lambda agent: agent.num_timesteps < 1000`, which stops training by returning "
                "False. Callbacks of stable-baselines3 need one of its own models"
            )
        state = None
        with Progress(self, goal - self.num_timesteps, enabled=progress_bar) as progress:
            while self.num_timesteps < goal:
                if state is None:
                    state = self._interface.reset(seed=int(self._generator.integers(2**31)))
                    self.data.begin_episode()
                action = self._behaviour().act(state, self._generator.random())
                next_state, reward, terminated, truncated = self._interface.step(action)
                ended = terminated or truncated
                transition = (state, action, reward, next_state, terminated)
                self.data.append(transition, ended)
                yield transition, ended
                state = None if ended else next_state
                progress.step()
                if callback is not None and callback(self) is False:
                    return

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray | np.integer, Any]:
        """Actions for one observation or a batch, with the signature of stable-baselines3.

        Parameters
        ----------
        observation : one observation, or a batch
            A batch is a list or an array of observations or, for `Tuple` and `Dict` spaces, an
            array per part.
        state, episode_start
            Ignored, since there is no memory; `state` is returned.
        deterministic : bool, default=False
            Whether to take the most probable action instead of sampling.
        """
        states, single = self._states(observation)
        if deterministic:
            actions = self._target_policy().greedy(states)
        else:
            draws = self._prediction_generator.random(len(states))
            actions = self._target_policy().sample(states, draws)
        actions = actions + self._interface.first_action
        return (actions[0] if single else actions), state

    def action_probabilities(self, observations: Any) -> NDArray:
        """The policy at a batch of observations, (n, n_actions)."""
        return self._target_policy().probabilities(self._states(observations)[0])

    def action_values(self, observations: Any) -> NDArray:
        """Estimated action values of that policy at a batch of observations, (n, n_actions)."""
        return self._action_values(self._states(observations)[0])

    def save(self, path: str | Path) -> None:
        """Write settings, data, policy and random state to one `.npz` file."""
        from powr.storage import save

        save(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: gymnasium.Env | str | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> Self:
        """Read an agent, which continues as the saved one would.

        Parameters
        ----------
        path : str or Path
        env : gymnasium.Env or str, default=None
            Default: a new environment with the id and arguments of the one of training.
        kernel : Kernel, default=None
            Needed only if the agent was trained with a kernel that is not in `powr.kernels`.
        """
        from powr.storage import load

        return load(cls, path, env, kernel)

    def _states(self, observations: Any) -> tuple[NDArray, bool]:
        refuse_reset(observations, self.observation_space)
        return self._interface.observations.states(observations)

    # -- what a subclass defines ------------------------------------------------------------------

    def _behaviour(self) -> Policy:
        """The policy that collects data."""
        raise NotImplementedError

    def _target_policy(self) -> Policy:
        """The policy that `predict` shows."""
        raise NotImplementedError

    def _action_values(self, states: NDArray) -> NDArray:
        raise NotImplementedError

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """What to save besides settings, data and random state: JSON data, and arrays."""
        raise NotImplementedError

    def _restore(self, state: dict[str, Any], arrays: dict[str, NDArray]) -> None:
        """The inverse of `_state`, once settings and data are in place."""
        raise NotImplementedError
