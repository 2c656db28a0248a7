"""The study: what envs.yaml says, as models with attributes, and the runs that follow from it.

A run's digest covers every setting that can change its results and nothing else. It is part of
the run file's name, so a run file is current exactly when its name is. Whether an algorithm
accepts its settings is for its class to say (suite/training/preflight.py).
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
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


class EvaluationProtocol(Block):
    episodes: Annotated[int, Field(ge=1, le=10_000)]
    first: Count
    per_decade: Annotated[int, Field(ge=1, le=1000)]


# Environment, algorithm, timesteps, what is varied, tier.
Choice = tuple[str, str, int, dict[str, Any], str]


class Plan(Block):
    """Combinations of settings to train; the study that holds the plan tells it its name."""

    seeds: Seeds
    timesteps: Timesteps
    sampled: bool = False  # whether every algorithm's sampled policy is evaluated too
    _study: Study = PrivateAttr()
    _name: str = PrivateAttr()

    def choices(self) -> Iterator[Choice]:
        """One per combination; those of each environment together, in the order of the file."""
        raise NotImplementedError

    def combinations(self) -> list[Combination]:
        return [
            Combination(
                self._name,
                environment,
                algorithm,
                self._study.resolve(environment, algorithm, timesteps, varied, self.sampled),
                self.seeds,
                varied,
                tier,
            )
            for environment, algorithm, timesteps, varied, tier in self.choices()
        ]

    def check_size(self) -> None:
        """Refuse more runs than anybody means, without listing them all."""
        most = MOST_RUNS // self.seeds
        if (count := sum(1 for _ in itertools.islice(self.choices(), most + 1))) > most:
            raise SuiteError(
                f"{self._name}: {count * self.seeds:,} or more runs, at most {MOST_RUNS:,} are "
                "allowed: reduce its seeds or the values of its settings"
            )


class Scale(Plan):
    algorithms: Names
    overrides: dict[str, Timesteps] = {}  # other timesteps for some of the algorithms
    # Further algorithms, which run on these environments alone.
    only: dict[str, Timesteps] = {}

    def choices(self) -> Iterator[Choice]:
        everywhere = {
            name: self.timesteps | self.overrides.get(name, {}) for name in self.algorithms
        }
        for environment in self.timesteps:
            for algorithm, timesteps in (everywhere | self.only).items():
                if environment in timesteps:
                    yield environment, algorithm, timesteps[environment], {}, ""


class Ablation(Plan):
    """For each setting that is varied, the list of its values; null is the default."""

    change: str = ""  # what it does, in a few words for its page and figure
    algorithms: Names
    settings: Choices = {}
    environments: dict[str, Choices] = {}

    def choices_on(self, environment: str) -> Choices:
        return self.settings | self.environments.get(environment, {})

    def choices(self) -> Iterator[Choice]:
        for environment, timesteps in self.timesteps.items():
            settings = self.choices_on(environment)
            for algorithm, *values in itertools.product(self.algorithms, *settings.values()):
                varied = {
                    key: value
                    for key, value in zip(settings, values, strict=True)
                    if value is not None
                }
                yield environment, algorithm, timesteps, varied, ""


class Branch(Block):
    """Plausible settings with the same evidence: every combination of the values of `settings`.

    With `alternatives`, each combination once with each of these further settings.
    """

    tier: Text  # what speaks for them
    environments: Names
    settings: Choices
    alternatives: list[dict[str, Any]] = Field(default=[{}], min_length=1)


class Multiverse(Plan):
    """The settings of one algorithm that nobody knows, with their plausible values."""

    algorithm: Text
    branches: Annotated[list[Branch], Field(min_length=1)]

    def choices(self) -> Iterator[Choice]:
        for environment, timesteps in self.timesteps.items():
            for branch in self.branches:
                alternatives = branch.alternatives if environment in branch.environments else []
                for alternative in alternatives:
                    for values in itertools.product(*branch.settings.values()):
                        varied = dict(zip(branch.settings, values, strict=True)) | alternative
                        yield environment, self.algorithm, timesteps, varied, branch.tier


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
    evaluation: EvaluationProtocol
    scales: Annotated[dict[Name, Scale], Field(min_length=1)]
    ablations: dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], Ablation] = {}
    multiverse: Multiverse | None = None
    _path: Path = PrivateAttr(default=Path("envs.yaml"))

    def model_post_init(self, context: Any) -> None:
        for name, plans in self.plans.items():
            for plan in plans:
                plan._study, plan._name = self, name
                plan.check_size()

    @cached_property
    def plans(self) -> dict[str, list[Plan]]:
        """By scale; all ablations together are one, and so is the multiverse."""
        plans: dict[str, list[Plan]] = {name: [scale] for name, scale in self.scales.items()}
        if self.ablations:
            plans[ABLATIONS] = [*self.ablations.values()]
        if self.multiverse:
            plans[MULTIVERSE] = [self.multiverse]
        return plans

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
        """Those of a scale; what two ablations share is trained once, with the more seeds."""
        check_known([scale], self.plans, "scale")
        shared: dict[tuple[str, str, str], Combination] = {}
        for each in itertools.chain(*(plan.combinations() for plan in self.plans[scale])):
            key = (each.environment, each.algorithm, each.digest)
            if key not in shared or each.seeds > shared[key].seeds:
                shared[key] = each
        return list(shared.values())

    def combination(
        self, scale: str, environment: str, algorithm: str, varied: Mapping[str, Any] | None = None
    ) -> Combination:
        """The one of a scale with these settings varied."""
        found = self.combinations(scale)
        for key, name in (("environment", environment), ("algorithm", algorithm)):
            known = dict.fromkeys(getattr(each, key) for each in found)
            check_known([name], known, f"{key} at scale {scale}")
            found = [each for each in found if getattr(each, key) == name]
        for each in found:
            if each.varied == (varied or {}):
                return each
        raise SuiteError(
            f"{scale} has no combination {json.dumps(varied)} of {algorithm} on {environment}. If "
            "the study has changed since the workflow started, start it again"
        )

    def runs(self, scale: str) -> list[Run]:
        return [run for each in self.combinations(scale) for run in each.runs]

    def run_files(self, scale: str, *, finished: bool = False) -> list[Path]:
        """The run files of a scale, or the finished ones only."""
        paths = [self.results / run.path for run in self.runs(scale)]
        return [path for path in paths if path.exists()] if finished else paths

    def agents(self, scale: str, *, finished: bool = False) -> dict[str, Path]:
        """By environment, the agent that seed 0 of the paper's POWR leaves beside its run file."""
        paths = {
            each.environment: (self.results / each.run(0).path).with_suffix(".npz")
            for each in self.combinations(scale)
            if self.algorithms[each.algorithm].kind == POWR
        }
        return {name: path for name, path in paths.items() if path.exists() or not finished}

    def has_settings_of(self, source: str, scale: str) -> bool:
        algorithms = {each.algorithm for each in self.combinations(scale)}
        return any(self.algorithms[name].source.kind == source for name in algorithms)

    @cached_property
    def varied(self) -> dict[tuple[str, str], str]:
        """By plan and digest, what the settings of a run vary as JSON; of scales it is nothing."""
        plans = [name for name in self.plans if name not in self.scales]
        found = itertools.chain(*map(self.combinations, plans))
        return {(each.scale, each.digest): json.dumps(each.varied) for each in found}

    def resolve(
        self,
        environment: str,
        algorithm: str,
        timesteps: int,
        varied: dict[str, Any],
        sampled: bool,
    ) -> dict[str, Any]:
        """Everything that decides the results of a run, but for its seed; digests cover it."""
        env, learner = self.environments[environment], self.algorithms[algorithm]
        evaluation = self.evaluation.model_dump()
        if learner.evaluation:  # it is evaluated earlier; from `shared_from` on as all others
            evaluation |= {"first": learner.evaluation.first, "shared_from": evaluation["first"]}
        settings = learner.settings_on(env.settings_of or environment) | varied
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
        for place, names, known in self._uses_of_names():
            check_known(names, known, place)
        for name in sorted({*self.classes} & {*baselines.BUILT_IN}):
            raise SuiteError(f"classes.{name}: {name} is a class of baselines/: rename it")
        for name in sorted({*self.scales} & {ABLATIONS, MULTIVERSE}):
            raise SuiteError(f"scales.{name}: this name is reserved for {name}: rename it")
        for name, scale in self.scales.items():
            for algorithm in sorted({*scale.only} & {*scale.algorithms}):
                raise SuiteError(
                    f"scales.{name}.only: {algorithm} runs on every environment of the scale "
                    f"already: remove it here or from scales.{name}.algorithms"
                )
        return self

    def _uses_of_names(self) -> Iterator[tuple[str, Iterable[str], Iterable[str]]]:
        """Where names are used, these names, and those that are defined."""
        environments, algorithms = self.environments, self.algorithms
        classes = [*baselines.BUILT_IN, *self.classes]
        for name, env in environments.items():
            if env.settings_of:
                yield f"environments.{name}.settings_of", [env.settings_of], environments
        for name, learner in algorithms.items():
            yield f"algorithms.{name}.class", [learner.class_], classes
            yield f"algorithms.{name}.environments", learner.environments, environments
        for name, scale in self.scales.items():
            place = f"scales.{name}"
            yield f"{place}.algorithms", scale.algorithms, algorithms
            yield f"{place}.timesteps", scale.timesteps, environments
            yield f"{place}.overrides", scale.overrides, scale.algorithms
            yield f"{place}.only", scale.only, algorithms
            for key, given in (("overrides", scale.overrides), ("only", scale.only)):
                for algorithm, timesteps in given.items():
                    yield f"{place}.{key}.{algorithm}", timesteps, scale.timesteps
        for name, plan in self.ablations.items():
            place = f"ablations.{name}"
            yield f"{place}.algorithms", plan.algorithms, algorithms
            yield f"{place}.timesteps", plan.timesteps, environments
            yield f"{place}.environments", plan.environments, plan.timesteps
        if scope := self.multiverse:
            yield f"{MULTIVERSE}.algorithm", [scope.algorithm], algorithms
            yield f"{MULTIVERSE}.timesteps", scope.timesteps, environments
            for number, branch in enumerate(scope.branches, 1):
                place = f"{MULTIVERSE}.branches.{number}.environments"
                yield place, branch.environments, scope.timesteps
