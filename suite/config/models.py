"""The form of envs.yaml: which keys each block has, and what their values may be.

The models check; the study stays the plain mapping that the file holds. Whether an algorithm
accepts its settings is for its class to say (suite/training/preflight.py).
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, Field, StringConstraints

import baselines


def unique(values: list[Any]) -> list[Any]:
    texts = [json.dumps(value, sort_keys=True) for value in values]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"{text} is given twice: keep one of the two")
    return values


def _is_class(name: str) -> str:
    baselines.find(name)  # a ValueError where there is none
    return name


# Names become folders, so they neither hold a slash nor start with a dot.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
# Gymnasium's name of an environment, optionally after the module that registers it.
GymnasiumId = Annotated[
    str,
    StringConstraints(
        pattern=r"^([A-Za-z_][A-Za-z0-9_.]*:)?([A-Za-z0-9_-]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*$"
    ),
]
Class = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*$"), AfterValidator(_is_class)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]  # of a claim
Text = Annotated[str, StringConstraints(min_length=1)]
UniqueTexts = Annotated[list[Text], AfterValidator(unique)]
Names = Annotated[list[Text], Field(min_length=1), AfterValidator(unique)]
Timesteps = Annotated[dict[str, Count], Field(min_length=1)]
Choices = dict[str, Annotated[list[Any], Field(min_length=1), AfterValidator(unique)]]


class Block(pydantic.BaseModel):
    """A mapping with these keys and no others; numbers in quotes and true are no numbers."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid", frozen=True)


class Environment(Block):
    id: GymnasiumId
    kwargs: dict[str, Any]
    # Returns at which the task counts as learned; the first is the main one.
    thresholds: Annotated[list[Number], Field(min_length=1), AfterValidator(unique)]
    # fixed: every reset, in training and in evaluation, uses the run's seed, so all episodes of
    # a run start in one state. random: Gymnasium's own starts.
    start: Literal["random", "fixed"] = "random"
    settings_of: Text | None = None  # another environment, whose algorithm settings apply here too
    # Of the environment's behaviour; `python -m suite check` shows it.
    fingerprint: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None


class Defaults(Block):
    kind: Literal["library defaults", "this project's defaults"]


class Published(Block):
    """Those of the paper's authors, or of another repository such as rl-baselines3-zoo."""

    kind: Literal["authors' probable settings", "published settings"]
    repository: str
    commit: Annotated[str, StringConstraints(pattern="^[0-9a-f]{7,40}$")]


class Chosen(Block):
    """The file shows the choice. Development seeds are those on which no result is reported."""

    kind: Literal["chosen on development seeds"]
    file: str


# Where an algorithm's settings come from. It is no part of a run's digest.
Source = Annotated[Defaults | Published | Chosen, Field(discriminator="kind")]


class EarlierEvaluation(Block):
    first: Count


class Algorithm(Block):
    class_: Class = Field(alias="class")
    revision: Annotated[int, Field(ge=1)]
    source: Source
    policy: Literal["MlpPolicy"] | None = None
    sampled: bool = False  # whether the sampled policy is evaluated too; that of POWR always is
    evaluation: EarlierEvaluation | None = None  # what differs from that of all algorithms
    settings: dict[str, Any]
    environments: dict[str, dict[str, Any]] = {}


class Evaluation(Block):
    episodes: Count
    first: Count
    per_decade: Count


class Plan(Block):
    seeds: Count
    algorithms: Names
    timesteps: Timesteps


class Scale(Plan):
    overrides: dict[str, Timesteps] = {}  # other timesteps for some of the algorithms
    sampled: bool = False  # whether every algorithm's sampled policy is evaluated too
    # Further algorithms, which run on these environments alone.
    only: dict[str, Timesteps] = {}


class Ablation(Plan):
    """For each setting of the extension that it varies, a list of the values to try."""

    change: str = ""  # what it does, in a few words for its page and figure
    settings: Choices = {}
    environments: dict[str, Choices] = {}


class Multiverse(Block):
    """For each setting of one algorithm that nobody knows, the list of its plausible values."""

    algorithm: Text
    timesteps: Timesteps
    seeds: Annotated[dict[str, Count], Field(min_length=1)]
    settings: Choices
    environments: dict[str, Choices] = {}


class Workflow(Block):
    """What snakemake's --config may say."""

    scale: str = "paper"
    # Train nothing; tables and figures show the runs there are and count them.
    partial: bool = Field(default=False, strict=False)


class Study(Block):
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    algorithms: Annotated[dict[Name, Algorithm], Field(min_length=1)]
    evaluation: Evaluation
    scales: Annotated[dict[Name, Scale], Field(min_length=1)]
    ablations: dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], Ablation] = {}
    multiverse: Multiverse | None = None
