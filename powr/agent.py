"""POWR, the paper's algorithm: data collection alternates with Algorithm 1 (Section 6).

An epoch fits the world model to all data (`world_model.py`) and takes steps of mirror descent in it
(`mirror_descent.py`).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.data import StateIndex, interleaved
from powr.environments.agent import Agent, Callback
from powr.environments.spaces import default_kernel
from powr.kernels import Kernel
from powr.mirror_descent import mirror_descent
from powr.policy import Policy, expand, make_policy, uniform_policy
from powr.solvers import check_method
from powr.validation import check_count, check_flag, check_gamma, check_kernel, check_positive
from powr.world_model import WorldModel

# Estimates overshoot a little: a warning comes where action values leave the possible range by more
# than this share of it.
_OVERSHOOT = 0.25


class Plan(NamedTuple):
    """The outcome of an epoch: a policy, and its exponent over the model's states."""

    policy: Policy
    coefficients: NDArray  # C of Algorithm 1, summed over epochs, (states, actions)
    exponents: NDArray  # H C
    epochs: tuple[int, ...] = ()  # number of transitions at the end of each epoch


class POWR(Agent):
    """Policy mirror descent with operator world models, the paper's algorithm.

    Each epoch adds its episodes to the world model, Eq. (10), and takes steps of mirror descent
    with the closed-form action values of Prop. 3. The policy is the softmax of the step size times
    the sum of action values, Eq. (15). Unvisited pairs have the value 0.

    The paper gives no settings. The defaults are those of the authors' code of June 2024.

    Parameters
    ----------
    env : gymnasium.Env or str
        An environment or the id of one, with `Discrete` actions and observations that are a `Box`
        (flattened) or finite: `Discrete`, `MultiDiscrete`, `MultiBinary`, or a `Tuple` or `Dict`
        of such.
    kernel : Kernel, default=None
        The state kernel. Default: `Dirac` for finite observations, `Exponential` with a third of
        the range of each dimension for a box.
    gamma : float, default=0.99
        The discount factor.
    step_size : float, default=0.1
        eta of Eq. (14).
    mirror_steps : int, default=1
        Steps of mirror descent per epoch.
    regularization : float, default=1e-6
        lambda of Eq. (10).
    episodes_per_epoch : int, default=1
    restart : bool, default=False
        Whether each epoch starts from the uniform policy (Algorithm 1 as printed) instead of
        adding to the exponent of the last one (the authors' code).
    method : {"auto", "exact", "nystrom"}, default="auto"
        How Prop. 3 is solved, see `WorldModel`.
    max_rank : int, default=1000
        Distinct pairs up to which "auto" is exact, and the largest rank of Nystrom.
    seed : int or None, default=0
        Seeds every random draw, those of the environment included. None draws a seed.

    Attributes
    ----------
    num_timesteps : int
    episode_returns : list of float
    n_plans_ : int
        Epochs so far.
    model_ : WorldModel or None
        The world model of the last epoch.
    n_overshoots_, worst_overshoot_ : int, float
        Epochs whose action values left the range that the rewards allow by more than a quarter of
        it, and the largest such excess as a share of the range.

    Examples
    --------
    >>> agent = POWR("FrozenLake-v1", seed=0).learn(100)
    >>> action, _ = agent.predict(0)
    >>> agent.action_probabilities([0, 1]).shape
    (2, 4)
    """

    def __init__(
        self,
        env: gymnasium.Env | str,
        *,
        kernel: Kernel | None = None,
        gamma: float = 0.99,
        step_size: float = 0.1,
        mirror_steps: int = 1,
        regularization: float = 1e-6,
        episodes_per_epoch: int = 1,
        restart: bool = False,
        method: str = "auto",
        max_rank: int = 1000,
        seed: int | None = 0,
    ):
        super().__init__(env, seed)
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.mirror_steps = mirror_steps
        self.regularization = regularization
        self.episodes_per_epoch = episodes_per_epoch
        self.restart = restart
        self.method = method
        self.max_rank = max_rank
        self.n_overshoots_, self.worst_overshoot_ = 0, 0.0
        nothing = np.zeros((0, self.n_actions))
        self._plan = Plan(uniform_policy(self.n_actions), nothing, nothing)
        self._model: WorldModel | None = None
        self._check_settings()

    n_plans_ = property(lambda self: len(self._plan.epochs))

    @property
    def model_(self) -> WorldModel | None:
        if self._model is None and self._plan.epochs:  # after an interrupt, or a load
            starts = (0, *self._plan.epochs[:-1])
            model = self._new_model(self.data.columns(0, self._plan.epochs[0])[0])
            for start, stop in zip(starts, self._plan.epochs, strict=True):
                model.partial_fit(*self.data.columns(start, stop))
            self._model = model
        return self._model

    def learn(
        self,
        total_timesteps: int,
        callback: Callback | None = None,
        progress_bar: bool = False,
    ) -> Self:
        self._check_settings()
        for _, ended in self._collect(total_timesteps, callback, progress_bar):
            planned = self._plan.epochs[-1] if self._plan.epochs else 0
            if ended and self.data.ended[planned:].sum() >= self.episodes_per_epoch:
                self._improve_policy(planned)
        return self

    learn.__doc__ = Agent.learn.__doc__

    def _improve_policy(self, planned: int) -> None:
        """One epoch: the world model of all data, then the mirror descent of Algorithm 1."""
        new = self.data.columns(planned)
        # Until the epoch is over there is no model: an interrupt may leave this one half updated.
        model, self._model = self.model_ or self._new_model(new[0]), None
        model.partial_fit(*new)  # Eq. (10)

        known = len(self._plan.coefficients)
        if self.restart:
            exponents = np.zeros((len(model.states_), self.n_actions))  # C_0 = 0
        else:
            new_states = model.states_[known:]
            exponents = np.vstack([self._plan.exponents, self._plan.policy(new_states)])
        steps, eta = self.mirror_steps, self.step_size
        descent = mirror_descent(model, exponents, steps=steps, step_size=eta, gamma=self.gamma)
        C = descent.coefficients
        if not self.restart:
            C[:known] += self._plan.coefficients  # Eq. (15): the sum over epochs continues
        self._record_overshoot(descent.overshoot)
        # A single assignment, so that an interrupt finds the old policy or the new one.
        self._plan = Plan(
            make_policy(model.function(C)),
            C,
            exponents + descent.exponents,
            (*self._plan.epochs, self.data.size),
        )
        self._model = model

    def _behaviour(self) -> Policy:
        return self._plan.policy

    def _target_policy(self) -> Policy:
        return self._plan.policy

    def _action_values(self, states: NDArray) -> NDArray:
        if self.model_ is None:
            return np.zeros((len(states), self.n_actions))
        return self.model_.action_values(self._plan.policy.probabilities, self.gamma)(states)

    def _new_model(self, states: NDArray) -> WorldModel:
        return WorldModel(
            self._kernel(states),
            self.n_actions,
            regularization=self.regularization,
            method=self.method,
            max_rank=self.max_rank,
        )

    def _kernel(self, states: NDArray) -> Kernel:
        """The kernel of the settings, or the default for the states of the first epoch."""
        return self.kernel or default_kernel(self.observation_space, states)

    def _record_overshoot(self, overshoot: float) -> None:
        self.worst_overshoot_ = max(self.worst_overshoot_, overshoot)
        if overshoot <= _OVERSHOOT:
            return
        self.n_overshoots_ += 1
        if self.n_overshoots_ == 1:
            warnings.warn(
                f"the world model gave action values beyond what the rewards allow, by "
                f"{overshoot:.0%} of that range: another bandwidth, a rougher kernel, a stronger "
                "regularization or a larger max_rank may suit the task better",
                stacklevel=4,
            )

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        # Recompute what a loaded agent has to, so that both continue with the same rounding.
        if (model := self.model_) is not None:
            model.forget_factors()
            self._plan = self._plan._replace(exponents=self._plan.policy(model.states_))
        overshoots = [self.n_overshoots_, self.worst_overshoot_]
        record = {"epochs": list(self._plan.epochs), "overshoots": overshoots}
        return record, {"coefficients": self._plan.coefficients}

    def _restore(self, state: dict[str, Any], arrays: dict[str, NDArray]) -> None:
        epochs = tuple(int(size) for size in state["epochs"])
        if sorted({0, *epochs}) != [0, *epochs] or (epochs and epochs[-1] > self.data.size):
            raise ValueError(f"its epochs {epochs} do not fit {self.data.size} transitions")
        self.n_overshoots_, self.worst_overshoot_ = state["overshoots"]
        if not epochs:
            return
        C = arrays["coefficients"]
        states, _, _, next_states, _ = self.data.columns(0, epochs[-1])
        index = StateIndex(self.data.state_shape)
        index.number(interleaved(states, next_states))
        if C.shape != (len(index), self.n_actions):
            raise ValueError(f"its coefficients of shape {C.shape} do not fit {len(index)} states")
        kernel = self._kernel(states[: epochs[0]])
        policy = make_policy(expand(kernel, index, C))
        self._plan = Plan(policy, C, policy(index.states), epochs)

    def _check_settings(self) -> None:
        if self.kernel is not None:
            check_kernel(self.kernel, self.data.state_shape)
        check_gamma(self.gamma)
        check_positive(self.step_size, "step_size")
        check_count(self.mirror_steps, "mirror_steps")
        check_positive(self.regularization, "regularization")
        check_count(self.episodes_per_epoch, "episodes_per_epoch")
        check_flag(self.restart, "restart")
        check_method(self.method)
        check_count(self.max_rank, "max_rank")
