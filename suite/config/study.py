"""envs.yaml: the study's choices, checked, and what they mean for one run.

A run's digest covers every setting that can change its results and nothing else. It is part of
the run file's name, so a run file is current exactly when its name is.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from suite import SuiteError
from suite.config.kinds import EXTENSION, kind_of
from suite.config.models import Study
from suite.config.reading import check_known, check_model, read_yaml

# The scales of runs that vary settings: of all ablations, where what two of them share is trained
# once, and of the multiverse.
ABLATIONS, MULTIVERSE = "ablations", "multiverse"


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


# What decides an algorithm's results beside its settings; a key that is not there is no part of the
# digest.
ALGORITHM_KEYS = ("class", "revision", "policy", "sampled")


class Variant(NamedTuple):
    """One combination of the settings that an ablation or the multiverse varies."""

    environment: str
    algorithm: str
    varied: dict[str, Any]
    resolved: dict[str, Any]
    runs: list[Run]


def load(path: str | Path) -> dict[str, Any]:
    """Read and check a study; the result holds what the file says and nothing else."""
    study = read_yaml(path)
    check_model(study, Study, path)
    check_names(study, path)
    return study


def check_names(study: Mapping[str, Any], path: str | Path) -> None:
    """Refuse names of environments and algorithms that are used but not defined."""
    environments, algorithms = study["environments"], study["algorithms"]
    extensions = [name for name, entry in algorithms.items() if kind_of(entry) == EXTENSION]
    for name, block in environments.items():
        if other := block.get("settings_of"):
            check_known([other], environments, f"{path}: environments.{name}.settings_of")
    for name, block in algorithms.items():
        place = f"{path}: algorithms.{name}.environments"
        check_known(block.get("environments", {}), environments, place)
    for name, scale in study["scales"].items():
        place = f"{path}: scales.{name}"
        if name in (ABLATIONS, MULTIVERSE):
            raise SuiteError(f"{place}: this name is reserved for {name}: rename it")
        check_known(scale["algorithms"], algorithms, f"{place}.algorithms")
        check_known(scale["timesteps"], environments, f"{place}.timesteps")
        for key, known in (("overrides", scale["algorithms"]), ("only", algorithms)):
            check_known(scale.get(key, {}), known, f"{place}.{key}")
            for algorithm, timesteps in scale.get(key, {}).items():
                check_known(timesteps, scale["timesteps"], f"{place}.{key}.{algorithm}")
        for algorithm in sorted({*scale.get("only", {})} & {*scale["algorithms"]}):
            raise SuiteError(
                f"{place}.only: {algorithm} runs on every environment of the scale already: "
                f"remove it here or from {place}.algorithms"
            )
    for name, scope in study.get("ablations", {}).items():
        place = f"{path}: ablations.{name}"
        check_known(scope["algorithms"], extensions, f"{place}.algorithms")
        check_known(scope["timesteps"], environments, f"{place}.timesteps")
        check_known(scope.get("environments", {}), scope["timesteps"], f"{place}.environments")
    if scope := study.get("multiverse"):
        place = f"{path}: multiverse"
        check_known([scope["algorithm"]], algorithms, f"{place}.algorithm")
        check_known(scope["timesteps"], environments, f"{place}.timesteps")
        check_known(scope["timesteps"], scope["seeds"], f"{place}.timesteps")
        for key in ("seeds", "environments"):
            check_known(scope.get(key, {}), scope["timesteps"], f"{place}.{key}")


def resolve(
    study: Mapping[str, Any], scale: str, environment: str, algorithm: str
) -> dict[str, Any]:
    """Everything that decides the results of a run, but for its seed."""
    check_known([scale], study["scales"], "scale")
    scope = study["scales"][scale]
    timesteps_of = _timesteps_of(scope)
    check_known([environment], scope["timesteps"], f"environment at scale {scale}")
    check_known([algorithm], timesteps_of, f"algorithm at scale {scale}")
    timesteps = timesteps_of[algorithm]
    check_known([environment], timesteps, f"environment of {algorithm} at scale {scale}")
    sampled = scope.get("sampled", False)
    return _resolved(study, environment, algorithm, timesteps[environment], sampled=sampled)


def _timesteps_of(scope: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The timesteps of a scale's algorithms on each of their environments."""
    overrides = scope.get("overrides", {})
    everywhere = {
        name: scope["timesteps"] | overrides.get(name, {}) for name in scope["algorithms"]
    }
    return everywhere | scope.get("only", {})


def _resolved(
    study: Mapping[str, Any],
    environment: str,
    algorithm: str,
    timesteps: int,
    varied: dict[str, Any] | None = None,
    *,
    sampled: bool = False,
) -> dict[str, Any]:
    env, learner = study["environments"][environment], study["algorithms"][algorithm]
    # The default is no part of the digest: runs from before there was a choice keep their names.
    start = {"start": "fixed"} if env.get("start") == "fixed" else {}
    evaluation = study["evaluation"]
    if "evaluation" in learner:  # it is evaluated earlier; from `shared_from` on as all others
        evaluation = {**evaluation, **learner["evaluation"], "shared_from": evaluation["first"]}
    return {
        "environment": {key: env.get(key) for key in ("id", "kwargs", "fingerprint")} | start,
        "algorithm": {
            **{key: learner[key] for key in ALGORITHM_KEYS if key in learner},
            **({"sampled": True} if sampled else {}),
            "settings": settings_on(learner, env.get("settings_of", environment)) | (varied or {}),
        },
        "timesteps": timesteps,
        "evaluation": evaluation,
    }


def settings_on(block: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """The settings of an algorithm or an ablation, with those that it has on one environment."""
    return block.get("settings", {}) | block.get("environments", {}).get(environment, {})


def digest(settings: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that name resolved settings."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def runs(study: Mapping[str, Any], scale: str) -> list[Run]:
    """All runs of a scale, seed 0 of everything before seed 1 of anything."""
    check_known([scale], study["scales"], "scale")
    scope = study["scales"][scale]
    return [
        Run(scale, env, name, seed, digest(resolve(study, scale, env, name)))
        for seed in range(scope["seeds"])
        for env in scope["timesteps"]
        for name, timesteps in _timesteps_of(scope).items()
        if env in timesteps
    ]


def variants(study: Mapping[str, Any], name: str) -> list[Variant]:
    """Every combination of the settings that one of the ablations varies, on its environments.

    A value of null leaves the setting at its default.
    """
    check_known([name], study.get("ablations", {}), "ablation")
    scope = study["ablations"][name]
    seeds = dict.fromkeys(scope["timesteps"], scope["seeds"])
    return _combinations(study, scope, scope["algorithms"], seeds, ABLATIONS)


def universes(study: Mapping[str, Any]) -> list[Variant]:
    """Every combination of the settings that the multiverse leaves open, on its environments."""
    scope = study["multiverse"]
    return _combinations(study, scope, [scope["algorithm"]], scope["seeds"], MULTIVERSE)


def _combinations(
    study: Mapping[str, Any],
    scope: Mapping[str, Any],
    algorithms: list[str],
    seeds: Mapping[str, int],
    scale: str,
) -> list[Variant]:
    found = []
    for environment, timesteps in scope["timesteps"].items():
        choices = settings_on(scope, environment)
        for algorithm, *values in itertools.product(algorithms, *choices.values()):
            named = zip(choices, values, strict=True)
            varied = {key: value for key, value in named if value is not None}
            resolved = _resolved(study, environment, algorithm, timesteps, varied)
            first = Run(scale, environment, algorithm, 0, digest(resolved))
            runs = [first._replace(seed=seed) for seed in range(seeds[environment])]
            found.append(Variant(environment, algorithm, varied, resolved, runs))
    return found


def variant_runs(study: Mapping[str, Any], name: str) -> list[tuple[Variant, Run]]:
    """The runs of one of the ablations; two ablations with the same settings have the same run."""
    return [(variant, run) for variant in variants(study, name) for run in variant.runs]


def resolve_variant(
    study: Mapping[str, Any], scale: str, environment: str, algorithm: str, named: str
) -> dict[str, Any]:
    """What `resolve` gives, for the ablation's variant or the universe with the digest `named`."""
    if scale == MULTIVERSE:
        candidates = universes(study)
    else:
        candidates = [each for name in study.get("ablations", {}) for each in variants(study, name)]
    for variant in candidates:
        found = (variant.environment, variant.algorithm, variant.runs[0].digest)
        if found == (environment, algorithm, named):
            return variant.resolved
    raise SuiteError(
        f"{scale}: no variant of {algorithm} on {environment} has the digest {named!r}. "
        "If envs.yaml has changed since the workflow started, start it again"
    )
