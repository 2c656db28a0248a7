"""The finite models on which rules about theorems compute both sides."""

from collections.abc import Iterator
from typing import Any

import gymnasium
from pydantic import Field

from powr.tabular import TabularMDP
from suite.claims.typed import Gamma
from suite.claims.verdicts import Parameters
from suite.config.models import Block


class Table(Block):
    """An environment with a transition table."""

    id: str
    kwargs: dict[str, Any]


class OnTables(Parameters):
    models: list[Table] = Field(min_length=1)
    gamma: Gamma

    def mdps(self) -> Iterator[tuple[str, TabularMDP]]:
        for model in self.models:
            settings = ", ".join(f"{key}={value}" for key, value in model.kwargs.items())
            env = gymnasium.make(model.id, **model.kwargs)
            yield f"{model.id}({settings})", TabularMDP.from_env(env)
