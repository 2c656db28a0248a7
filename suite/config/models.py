"""The study: what envs.yaml says, as models with attributes, and the runs that follow from it.

A run's digest covers every setting that can change its results and nothing else. It is part of
the run file's name, so a run file is current exactly when its name is. Whether an algorithm
accepts its settings is for its class to say (suite/training/preflight.py).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
from pydantic import AfterValidator, Field, PrivateAttr, StringConstraints

import baselines
from suite import SuiteError
from suite.config.reading import check_known

# The scales of runs that vary settings: of all ablations, where what two of them share is trained
# once, and of the multiverse.
ABLATIONS, MULTIVERSE = "ablations", "multiverse"

LIBRARY, AUTHORS = "library defaults", "authors' probable settings"
# The kinds of algorithm, in the order in which figures and tables show them.
POWR, EXTENSION, TEXTBOOK = "the paper's POWR", "beyond the paper", "textbook"
DEEP = "deep, other settings"
DEEP_OF_SOURCE = {LIBRARY: "deep, library defaults", AUTHORS: "deep, authors' settings"}
KINDS = (POWR, EXTENSION, TEXTBOOK, *DEEP_OF_SOURCE.values(), DEEP)


def unique(values: list[Any]) -> list[Any]:
    texts = [json.dumps(value, sort_keys=True) for value in values]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"{text} is given twice: keep one of the two")
    return values


# Names become folders, so they neither hold a slash nor start with a dot.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
# Gymnasium's name of an environment, optionally after the module that registers it.
GymnasiumId = Annotated[
    str,
    StringConstraints(
        pattern=r"^([A-Za-z_][A-Za-z0-9_.]*:)?([A-Za-z0-9_-]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*$"
    ),
]
ClassName = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*$", max_length=100)]
# module:Class, or file.py:Class with a file beside the study.
ClassPath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./-]+:[A-Za-z_][A-Za-z0-9_]*$")]
Count = Annotated[int, Field(ge=1, le=10**9)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]  # of a claim
Text = Annotated[str, StringConstraints(min_length=1)]
UniqueTexts = Annotated[list[Text], AfterValidator(unique)]
Names = Annotated[list[Text], Field(min_length=1), AfterValidator(unique)]
Seeds = Annotated[int, Field(ge=1, le=10_000)]
MOST_RUNS = 100_000  # of a scale, an ablation or the multiverse: more are a slip of the pen
Timesteps = Annotated[dict[str, Count], Field(min_length=1)]
Choices = dict[str, Annotated[list[Any], Field(min_length=1), AfterValidator(unique)]]


def digest(settings: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that name resolved settings."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


class Run(NamedTuple):
    """One training: an algorithm, an environment and a seed at a scale."""

    scale: str
    environment: str
    algorithm: str
    seed: int
    digest: str

    @property
    def path(self) -> Path:
        """The run file, relative to the folder of results."""
        name = f"seed{self.seed}-{self.digest}.csv"
        return Path(self.scale, self.environment, self.algorithm, name)


@dataclass(frozen=True)
class Combination:
    """An algorithm on an environment with all its settings: its runs differ in their seeds only."""

    scale: str
    environment: str
    algorithm: str
    settings: dict[str, Any]  # everything that decides the results of a run, but for its seed
    seeds: int
    varied: dict[str, Any]  # the settings that an ablation or the multiverse varies
    tier: str = ""  # of the multiverse: what speaks for these settings

    @cached_property
    def digest(self) -> str:
        return digest(self.settings)

    def run(self, seed: int) -> Run:
        return Run(self.scale, self.environment, self.algorithm, seed, self.digest)

    @property
    def runs(self) -> list[Run]:
        return [self.run(seed) for seed in range(self.seeds)]


class Block(pydantic.BaseModel):
    """A mapping with these keys and no others. Quoted numbers and booleans are no numbers."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid", frozen=True)


class Environment(Block):
    id: GymnasiumId
    kwargs: dict[str, Any]
    # Returns at which the task counts as learned; the first is the main one.
    thresholds: Annotated[list[int | float], Field(min_length=1), AfterValidator(unique)]
    # fixed: every reset, in training and in evaluation, uses the run's seed, so all episodes of
    # a run start in one state. random: Gymnasium's own starts.
    start: Literal["random", "fixed"] = "random"
    settings_of: Text | None = None  # another environment, whose algorithm settings apply here too
    # Of the environment's behaviour; `python -m suite check` shows it.
    fingerprint: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None

    def resolve(self) -> dict[str, Any]:
        """What decides results. The default start is left out, for runs from before the choice."""
        start = {"start": "fixed"} if self.start == "fixed" else {}
        return {"id": self.id, "kwargs": self.kwargs, "fingerprint": self.fingerprint} | start


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
    class_: ClassName = Field(alias="class")
    name: Text | None = None  # as tables and figures print it
    revision: Annotated[int, Field(ge=1)]
    source: Source
    policy: Literal["MlpPolicy"] | None = None
    sampled: bool = False  # whether the sampled policy is evaluated too; that of POWR always is
    evaluation: EarlierEvaluation | None = None  # what differs from that of all algorithms
    settings: dict[str, Any]
    environments: dict[str, dict[str, Any]] = {}

    def settings_on(self, environment: str) -> dict[str, Any]:
        return self.settings | self.environments.get(environment, {})

    @property
    def kind(self) -> str:
        """By class and source: POWR with settings that were chosen here is beyond the paper."""
        if self.class_ in baselines.CLASSICAL:
            return TEXTBOOK
        if self.class_ in baselines.DEEP:
            return DEEP_OF_SOURCE.get(self.source.kind, DEEP)
        is_papers = self.class_ in baselines.OWN and self.source.kind == AUTHORS
        return POWR if is_papers else EXTENSION

    def resolve(self) -> dict[str, Any]:
        """What decides results, but for settings; only what the file says is part of a digest."""
        keys = {"class_", "revision", "policy", "sampled"}
        return self.model_dump(by_alias=True, include=keys, exclude_unset=True)


class Evaluation(Block):
    episodes: Annotated[int, Field(ge=1, le=10_000)]
    first: Count
    per_decade: Annotated[int, Field(ge=1, le=1000)]


class Plan(Block):
    """Combinations of settings to train; the study that holds the plan tells it its name."""

    timesteps: Timesteps
    _study: Study = PrivateAttr()
    _name: str = PrivateAttr()


class Scale(Plan):
    seeds: Seeds
    algorithms: Names
    overrides: dict[str, Timesteps] = {}  # other timesteps for some of the algorithms
    sampled: bool = False  # whether every algorithm's sampled policy is evaluated too
    # Further algorithms, which run on these environments alone.
    only: dict[str, Timesteps] = {}

    @cached_property
    def timesteps_of(self) -> dict[str, dict[str, int]]:
        """The timesteps of each algorithm on each of its environments."""
        everywhere = {
            name: self.timesteps | self.overrides.get(name, {}) for name in self.algorithms
        }
        return everywhere | self.only

    def combinations(self) -> list[Combination]:
        """Those of each environment together, in the order of the file."""
        return [
            self.combination(environment, algorithm)
            for environment in self.timesteps
            for algorithm, timesteps in self.timesteps_of.items()
            if environment in timesteps
        ]

    def combination(self, environment: str, algorithm: str) -> Combination:
        place = f"at scale {self._name}"
        check_known([environment], self.timesteps, f"environment {place}")
        check_known([algorithm], self.timesteps_of, f"algorithm {place}")
        timesteps = self.timesteps_of[algorithm]
        check_known([environment], timesteps, f"environment of {algorithm} {place}")
        settings = self._study.resolve(
            environment, algorithm, timesteps[environment], sampled=self.sampled
        )
        return Combination(self._name, environment, algorithm, settings, self.seeds, {})

    def count_runs(self) -> int:
        return self.seeds * sum(map(len, self.timesteps_of.values()))

    def runs(self) -> list[Run]:
        """All runs, seed 0 of everything before seed 1 of anything."""
        combinations = self.combinations()
        return [each.run(seed) for seed in range(self.seeds) for each in combinations]


class Varied(Plan):
    """For each setting that is varied, the list of its values; null is the default."""

    settings: Choices = {}
    environments: dict[str, Choices] = {}

    def choices_on(self, environment: str) -> Choices:
        return self.settings | self.environments.get(environment, {})

    def _combinations(self, algorithms: list[str], seeds: dict[str, int]) -> list[Combination]:
        found = []
        for environment, timesteps in self.timesteps.items():
            choices = self.choices_on(environment)
            for algorithm, *values in itertools.product(algorithms, *choices.values()):
                named = zip(choices, values, strict=True)
                varied = {key: value for key, value in named if value is not None}
                settings = self._study.resolve(environment, algorithm, timesteps, varied)
                found.append(
                    Combination(
                        self._name, environment, algorithm, settings, seeds[environment], varied
                    )
                )
        return found


class Ablation(Varied):
    change: str = ""  # what it does, in a few words for its page and figure
    seeds: Seeds
    algorithms: Names

    def count_runs(self) -> int:
        varied = (self.choices_on(environment).values() for environment in self.timesteps)
        return self.seeds * len(self.algorithms) * sum(math.prod(map(len, each)) for each in varied)

    def combinations(self) -> list[Combination]:
        return self._combinations(self.algorithms, dict.fromkeys(self.timesteps, self.seeds))


class Branch(Block):
    """Plausible settings with the same evidence: every combination of the values of `settings`.

    With `alternatives`, each combination once with each of these further settings.
    """

    tier: Text  # what speaks for them
    environments: Names
    settings: Choices
    alternatives: list[dict[str, Any]] = Field(default=[{}], min_length=1)

    def varied(self) -> list[dict[str, Any]]:
        return [
            dict(zip(self.settings, values, strict=True)) | alternative
            for alternative in self.alternatives
            for values in itertools.product(*self.settings.values())
        ]


class Multiverse(Plan):
    """The settings of one algorithm that nobody knows, with their plausible values."""

    algorithm: Text
    seeds: Seeds
    branches: Annotated[list[Branch], Field(min_length=1)]

    def count_runs(self) -> int:
        return self.seeds * sum(
            len(each.alternatives)
            * math.prod(map(len, each.settings.values()))
            * len(each.environments)
            for each in self.branches
        )

    def combinations(self) -> list[Combination]:
        found = []
        for environment, timesteps in self.timesteps.items():
            for branch in self.branches:
                for varied in branch.varied() if environment in branch.environments else []:
                    settings = self._study.resolve(environment, self.algorithm, timesteps, varied)
                    given = (self._name, environment, self.algorithm, settings)
                    found.append(Combination(*given, self.seeds, varied, branch.tier))
        return found


class Workflow(Block):
    """What snakemake's --config may say."""

    study: str = "envs.yaml"
    scale: str | None = None  # default: paper, or the study's first
    # Train nothing; tables and figures show the runs there are and count them.
    partial: bool = Field(default=False, strict=False)


class Study(Block):
    # Algorithms of the study's own: module:Class or file.py:Class by the name of the class.
    classes: dict[ClassName, ClassPath] = {}
    # Whether it replicates the paper: its figures show the paper's algorithms, claims are judged.
    replication: bool = False
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    algorithms: Annotated[dict[Name, Algorithm], Field(min_length=1)]
    evaluation: Evaluation
    scales: Annotated[dict[Name, Scale], Field(min_length=1)]
    ablations: dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], Ablation] = {}
    multiverse: Multiverse | None = None
    _path: Path = PrivateAttr(default=Path("envs.yaml"))

    def model_post_init(self, context: Any) -> None:
        plans: list[tuple[str, Scale | Ablation | Multiverse]] = list(self.scales.items())
        plans += [(ABLATIONS, each) for each in self.ablations.values()]
        plans += [(MULTIVERSE, self.multiverse)] if self.multiverse else []
        for name, plan in plans:
            plan._study, plan._name = self, name
            if (count := plan.count_runs()) > MOST_RUNS:
                raise SuiteError(
                    f"{name}: {count:,} runs, at most {MOST_RUNS:,} are allowed: reduce its seeds "
                    "or the values of its settings"
                )

    @property
    def path(self) -> Path:
        return self._path

    @property
    def folder(self) -> Path:
        """Of results and figures: beside envs.yaml or study.yaml, else named after the study."""
        beside = self._path.stem in ("envs", "study")
        return self._path.parent if beside else self._path.with_suffix("")

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def default_scale(self) -> str:
        return "paper" if "paper" in self.scales else next(iter(self.scales))

    def scale(self, name: str) -> Scale:
        check_known([name], self.scales, "scale")
        return self.scales[name]

    def combinations(self, scale: str) -> list[Combination]:
        """Those of a scale, of all ablations (each once) or of the multiverse."""
        if scale == ABLATIONS and self.ablations:
            found = [each for plan in self.ablations.values() for each in plan.combinations()]
            most: dict[tuple[str, str], Combination] = {}
            for each in found:
                shared = most.setdefault((each.environment, each.digest), each)
                if each.seeds > shared.seeds:
                    most[each.environment, each.digest] = each
            return list(most.values())
        if scale == MULTIVERSE and self.multiverse:
            return self.multiverse.combinations()
        return self.scale(scale).combinations()

    def run_files(self, scale: str, *, finished: bool = False) -> list[Path]:
        """The run files of a scale, or the finished ones only."""
        runs = [run for each in self.combinations(scale) for run in each.runs]
        paths = [self.results / run.path for run in runs]
        return [path for path in paths if path.exists()] if finished else paths

    def resolve(
        self,
        environment: str,
        algorithm: str,
        timesteps: int,
        varied: dict[str, Any] | None = None,
        *,
        sampled: bool = False,
    ) -> dict[str, Any]:
        """Everything that decides the results of a run, but for its seed; digests cover it."""
        env, learner = self.environments[environment], self.algorithms[algorithm]
        evaluation = self.evaluation.model_dump()
        if learner.evaluation:  # it is evaluated earlier; from `shared_from` on as all others
            evaluation |= {"first": learner.evaluation.first, "shared_from": evaluation["first"]}
        settings = learner.settings_on(env.settings_of or environment) | (varied or {})
        return {
            "environment": env.resolve(),
            "algorithm": {
                **learner.resolve(),
                **({"sampled": True} if sampled else {}),
                "settings": settings,
            },
            "timesteps": timesteps,
            "evaluation": evaluation,
        }

    @pydantic.model_validator(mode="after")
    def _names_are_known(self) -> Study:
        """Refuse names of classes, environments and algorithms that are used but not defined."""
        for name in sorted({*self.classes} & {*baselines.BUILT_IN}):
            raise SuiteError(f"classes.{name}: {name} is a class of baselines/: rename it")
        environments, algorithms = self.environments, self.algorithms
        for name, env in environments.items():
            if env.settings_of:
                check_known([env.settings_of], environments, f"environments.{name}.settings_of")
        for name, learner in algorithms.items():
            known = {**baselines.BUILT_IN, **self.classes}
            check_known([learner.class_], known, f"algorithms.{name}.class")
            check_known(learner.environments, environments, f"algorithms.{name}.environments")
        for name, scale in self.scales.items():
            place = f"scales.{name}"
            if name in (ABLATIONS, MULTIVERSE):
                raise SuiteError(f"{place}: this name is reserved for {name}: rename it")
            check_known(scale.algorithms, algorithms, f"{place}.algorithms")
            check_known(scale.timesteps, environments, f"{place}.timesteps")
            check_known(scale.overrides, scale.algorithms, f"{place}.overrides")
            check_known(scale.only, algorithms, f"{place}.only")
            for key, given in (("overrides", scale.overrides), ("only", scale.only)):
                for algorithm, timesteps in given.items():
                    check_known(timesteps, scale.timesteps, f"{place}.{key}.{algorithm}")
            for algorithm in sorted({*scale.only} & {*scale.algorithms}):
                raise SuiteError(
                    f"{place}.only: {algorithm} runs on every environment of the scale already: "
                    f"remove it here or from {place}.algorithms"
                )
        varied: list[tuple[str, Varied]] = [
            (f"ablations.{name}", plan) for name, plan in self.ablations.items()
        ]
        for plan in self.ablations.values():
            check_known(plan.algorithms, algorithms, "ablations.algorithms")
        if scope := self.multiverse:
            check_known([scope.algorithm], algorithms, f"{MULTIVERSE}.algorithm")
            check_known(scope.timesteps, environments, f"{MULTIVERSE}.timesteps")
            for number, branch in enumerate(scope.branches, 1):
                place = f"{MULTIVERSE}.branches.{number}.environments"
                check_known(branch.environments, scope.timesteps, place)
        for place, each in varied:
            check_known(each.timesteps, environments, f"{place}.timesteps")
            check_known(each.environments, each.timesteps, f"{place}.environments")
        return self
