"""Settings of an agent: checked whenever they are set, and fixed once training has begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from powr.kernels import Kernel, check_kernel

T = TypeVar("T")


class Setting(Generic[T]):
    """An attribute of `POWR`.

    What was learned under one value cannot be learned again under another, and a reloaded agent
    could not tell when it changed: so a change after the first timestep is refused.
    """

    def __init__(self, check: Callable[[Any, str], T]):
        self._check = check

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

    def _checked(self, agent: Any, value: Any) -> T:
        return self._check(value, self._name)


class KernelSetting(Setting[Kernel | None]):
    """The state kernel, which must fit the environment's observations; None leaves the choice."""

    def __init__(self) -> None:
        super().__init__(lambda kernel, name: kernel)

    def _checked(self, agent: Any, value: Any) -> Kernel | None:
        if value is not None:
            check_kernel(value, agent._collector.observations.shape)
        return value
