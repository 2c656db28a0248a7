"""Settings of an agent: checked whenever they are set, fixed once training has begun, or chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from powr.epochs import EpochPlanner
from powr.kernels import Dirac, Kernel, check_kernel
from powr.planners import BoxPlanner, FinitePlanner, Planner
from powr.rollout import limit_of
from powr.solvers import TOLERANCE
from powr.solvers.local import check_stationary

T = TypeVar("T")


class Setting(Generic[T]):
    """An attribute of `POWR`.

    What was learned under one value cannot be learned again under another, and a reloaded agent
    could not tell when it changed: so a change after the first timestep is refused.
    """

    def __init__(self, check: Callable[[Any, str], T], *, may_be_chosen: bool = False):
        self._check = check
        self._may_be_chosen = may_be_chosen

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, agent: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, agent: Any, owner: type) -> T: ...

    def __get__(self, agent: Any, owner: type) -> Setting[T] | T:
        return self if agent is None else vars(agent)[self._name]

    def __set__(self, agent: Any, value: Any) -> None:
        name = self._name
        if agent.num_timesteps > 0:
            raise AttributeError(
                f"{name} cannot be changed once training has begun: make a new agent, "
                f"POWR(env, {name}={value!r}, ...)"
            )
        vars(agent)[name] = self._checked(agent, value)

    def _checked(self, agent: Any, value: Any) -> T | None:
        """The value if it is allowed; None leaves the choice to the agent."""
        if value is None and self._may_be_chosen:
            return None
        return self._check(value, self._name)


class KernelSetting(Setting[Kernel | None]):
    """The state kernel, which must fit the environment's observations; None leaves the choice."""

    def __init__(self) -> None:
        super().__init__(lambda kernel, name: kernel)

    def _checked(self, agent: Any, value: Any) -> Kernel | None:
        if value is not None:
            check_kernel(value, agent._collector.observations.shape)
        return value


# What the paper's alternation uses where nothing is said.
_SUMMED_DEFAULTS = {
    "gamma": 0.99,
    "step_size": 1.0,
    "mirror_steps": 10,
    "regularization": 1e-6,
    "prior": 0.0,
}

# Settings that only the paper's alternation has, and their defaults.
SUMMED_ONLY = {
    "episodes_per_epoch": 1,
    "epoch_growth": 0.05,
    "method": "auto",
    "tolerance": TOLERANCE,
    "max_rank": 1000,
}

# The horizon 1 / (1 - gamma) is this many times the time limit, within bounds.
_HORIZONS_PER_LIMIT = 10
_LEAST_GAMMA, _LARGEST_GAMMA = 0.99, 0.999
_WHY_GAMMA = "ten time limits, at most a horizon of 1,000"
_WHY_GAMMA_WITHOUT_LIMIT = "a horizon of 1,000, since there is no time limit"

# Errors of values between states add up over the horizon: it is kept short in a box.
_GAMMA_IN_BOX = 0.99


def make_planner(agent: Any) -> Planner:
    """The planner that an agent's settings ask for, with the rest chosen from its environment."""
    observations = agent._collector.observations
    if agent.summed:
        return make_epoch_planner(agent)
    for name, default in SUMMED_ONLY.items():
        if getattr(agent, name) != default:
            raise ValueError(
                f"{name} is a setting of the paper's alternation: give summed=True with it"
            )
    common = {
        "prior": agent.prior,
        "step_size": agent.step_size,
        "mirror_steps": agent.mirror_steps,
        "plan_within_episodes": agent.plan_within_episodes,
        "planning": agent._planning,
    }
    if observations.shape == ():
        if not isinstance(agent.kernel, Dirac | None):
            raise ValueError(
                f"kernel {agent.kernel!r} does not suit finite observations: leave it out, or "
                "give summed=True with it"
            )
        limit = limit_of(agent.env)
        return FinitePlanner(
            agent.n_actions,
            gamma=gamma_of(limit) if agent.gamma is None else agent.gamma,
            why_gamma=_WHY_GAMMA if limit else _WHY_GAMMA_WITHOUT_LIMIT,
            regularization=agent.regularization,
            **common,
        )
    if agent.regularization is not None:
        raise ValueError(
            "regularization in a box is a setting of the paper's alternation: give summed=True "
            "with it"
        )
    gamma = _GAMMA_IN_BOX if agent.gamma is None else agent.gamma
    return BoxPlanner(agent.n_actions, gamma=gamma, kernel=agent.kernel, **common)


def rebuilt(agent: Any, planned_at: int) -> tuple[Planner, bool]:
    """A planner that has seen all of the agent's data and planned at one timestep only.

    And whether another plan is due.
    """
    planner, is_due = make_planner(agent), False
    for transition, ended in agent._collector.transitions():
        is_due = planner.observe(transition, ended)
        if planner.size == planned_at:
            planner.plan()
            is_due = False
    return planner, is_due


def gamma_of(limit: int | None) -> float:
    """A discount whose horizon is several time limits."""
    if not limit:
        return _LARGEST_GAMMA
    return min(max(1.0 - 1.0 / (_HORIZONS_PER_LIMIT * limit), _LEAST_GAMMA), _LARGEST_GAMMA)


def make_epoch_planner(agent: Any) -> EpochPlanner:
    def setting(name: str) -> Any:
        given = getattr(agent, name)
        return _SUMMED_DEFAULTS[name] if given is None else given

    if agent.method == "local" and (agent.kernel or agent._collector.observations.shape == ()):
        check_stationary(agent.kernel or Dirac())
    return EpochPlanner(
        agent.env.observation_space,
        agent.n_actions,
        kernel=agent.kernel,
        **{name: setting(name) for name in ("gamma", "step_size", "mirror_steps")},
        episodes_per_epoch=agent.episodes_per_epoch,
        epoch_growth=agent.epoch_growth,
        model_settings={
            "regularization": setting("regularization"),
            "prior": setting("prior"),
            "method": agent.method,
            "tolerance": agent.tolerance,
            "max_rank": agent.max_rank,
        },
    )
