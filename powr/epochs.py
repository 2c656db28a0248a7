"""The paper's alternation: collect episodes, then mirror descent from the policy there is.

One epoch adds its episodes to the world model, Eq. (10), and takes a few steps of mirror descent in
it. The policy is the softmax of the step size times the sum of all action-value estimates so far,
Eq. (15), kept as one weight matrix. The authors' release works like this.
"""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import NDArray

from powr.kernels import Kernel
from powr.planning import Plan, first_plan, summed_plan
from powr.policy import Policy
from powr.spaces import default_kernel
from powr.transitions import Columns, as_columns, joined
from powr.world_model import WorldModel


class EpochPlanner:
    """Plans between episodes, and adds each plan's action values to the policy's exponent.

    `space` is that of the observations, from which the default kernel is made.
    """

    is_whole = True  # whatever an interrupt leaves is worked out again

    def __init__(
        self,
        space: Any,
        n_actions: int,
        *,
        gamma: float,
        kernel: Kernel | None,
        step_size: float,
        mirror_steps: int,
        episodes_per_epoch: int,
        epoch_growth: float,
        model_settings: dict[str, Any],
    ):
        self.n_actions = n_actions
        self.gamma = gamma
        self._space = space
        self._kernel = kernel
        self._step_size, self._mirror_steps = step_size, mirror_steps
        self._episodes_per_epoch, self._epoch_growth = episodes_per_epoch, epoch_growth
        self._model_settings = model_settings
        self.kernel_: Kernel | None = None
        self.epochs: list[int] = []  # episodes in each of them
        self.current = first_plan(n_actions)
        self.planned_at = 0
        self._model: WorldModel | None = None
        self._history: list[Columns] = []
        self._finished: list[Columns] = []  # since the last plan
        self._size_of_finished = 0  # of all episodes
        self._episode: list[tuple] = []
        self._warned = False

    @property
    def policy(self) -> Policy:
        return self.current.policy

    @property
    def shown(self) -> Policy:
        return self.current.policy

    @property
    def n_states(self) -> int:
        return len(self.current.coefficients)

    @property
    def model(self) -> WorldModel | None:
        if self._model is None and self._history:
            model = self._new_model(self._history[0][0])
            for columns in self._history:
                model.partial_fit(*columns)
            self._model = model
        return self._model

    @property
    def size(self) -> int:
        return self._size_of_finished + len(self._episode)

    def observe(self, transition: tuple, ended: bool) -> bool:
        # One change in either case, which an interrupt finds made or not.
        if not ended:
            self._episode.append(transition)
            return False
        finished, size = [*self._finished, as_columns([*self._episode, transition])], self.size + 1
        enough = len(finished) >= self._episodes_per_epoch
        is_due = enough and size - self.planned_at >= self._epoch_growth * self.planned_at
        self._finished, self._size_of_finished, self._episode = finished, size, []
        return is_due

    def plan(self) -> None:
        """One epoch; where it is interrupted, the policy is as it was and plans it later."""
        columns = joined(self._finished)
        # Until the plan is made there is no model: after an interrupt it is fitted again.
        model, self._model = self.model or self._new_model(columns[0]), None
        model.partial_fit(*columns)
        plan = summed_plan(
            model,
            self.current,
            steps=self._mirror_steps,
            step_size=self._step_size,
            gamma=self.gamma,
        )
        self._warn_of_guard(plan)
        # All that takes time is done, so that an interrupt finds the old policy or the new one.
        epochs, history = [*self.epochs, len(self._finished)], [*self._history, columns]
        self._model, self.current, self.planned_at = model, plan, self.size
        self.epochs, self._history, self._finished = epochs, history, []

    def forget_open_episode(self) -> None:
        """Forget the transitions since the last end of an episode."""
        self._episode = []

    def take_in_epochs(self, epochs: list[int]) -> None:
        """Count the episodes observed so far as planned, in these epochs, without planning."""
        first = 0
        for length in epochs:
            self._history.append(joined(self._finished[first : first + length]))
            first += length
        self._finished, self.epochs = self._finished[first:], epochs
        self.planned_at = sum(len(columns[1]) for columns in self._history)

    def chosen(self) -> dict[str, Any]:
        if self.kernel_ is None or self._kernel is not None:
            return {}
        return {"kernel": (self.kernel_, "a third of each dimension's range, or Dirac")}

    def _new_model(self, states: NDArray) -> WorldModel:
        self.kernel_ = self._kernel or self.kernel_ or default_kernel(self._space, states)
        return WorldModel(self.kernel_, self.n_actions, **self._model_settings)

    def _warn_of_guard(self, plan: Plan) -> None:
        asked = self._model_settings["regularization"]
        if plan.regularization > asked and not self._warned:
            self._warned = True
            warnings.warn(
                f"the world model gave action values beyond what the rewards allow, so it was "
                f"solved with the regularization {plan.regularization:g} instead of {asked:g}: a "
                "rougher kernel (Exponential), another bandwidth or a stronger regularization "
                "may suit the task better",
                stacklevel=6,
            )
