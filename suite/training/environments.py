"""The environments of the study, and the fingerprints that tell one version from another."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Discrete

from powr.tabular import TabularMDP
from suite import SuiteError

ROLLOUT_STEPS = 1000
DECIMALS = 5  # coarser than single precision, so that another maths library rounds alike


def make(settings: Mapping[str, Any], seed: int | None = None) -> Guarded:
    """A new environment; settings are those of one run, as resolved from envs.yaml.

    `seed` is the run's, with which every reset of an environment with fixed starts begins.
    """
    has_fixed_start = settings.get("start") == "fixed"
    if has_fixed_start and seed is None:
        raise ValueError(f"{settings['id']} has fixed starts: give the seed of the run")
    try:
        env = gymnasium.make(settings["id"], disable_env_checker=True, **settings["kwargs"])
    except Exception as error:
        raise SuiteError(
            f"environment {settings['id']} with {settings['kwargs']} cannot be made: {_line(error)}"
        ) from error
    if env.spec is None or env.spec.max_episode_steps is None:
        raise SuiteError(
            f"environment {settings['id']} has no time limit, so an evaluation might never end: "
            "give it max_episode_steps, in its kwargs in envs.yaml or by --env-kwargs "
            "max_episode_steps=200"
        )
    return Guarded(env, settings["id"], seed if has_fixed_start else None)


class Guarded(gymnasium.Wrapper):
    """Turns what an environment does wrong into one error that names it and the place.

    With a start seed it resets with this one, whatever seed is asked for: all episodes start in one
    state. Noise of the environment, if it has any, is the same in every episode, too.
    """

    def __init__(self, env: gymnasium.Env, name: str, start_seed: int | None) -> None:
        super().__init__(env)
        self.name = name
        self.start_seed = start_seed

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        """The environment's own, by which a saved agent finds it without the suite."""
        return self.env.spec

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        seed = seed if self.start_seed is None else self.start_seed
        try:
            observation, info = self.env.reset(seed=seed, options=options)
            _check_observation(observation)
        except Exception as error:
            raise self._fault("reset", error) from error
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
            _check_observation(observation)
            if not math.isfinite(reward):
                raise ValueError(f"the reward {reward} is not finite")
        except Exception as error:
            raise self._fault(f"step({action})", error) from error
        return observation, reward, terminated, truncated, info

    def _fault(self, call: str, error: Exception) -> SuiteError:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}, line {last.lineno}"
        return SuiteError(f"environment {self.name} failed in {call}: {_line(error)} ({place})")


def tabular(env: gymnasium.Env) -> TabularMDP | None:
    """The exact model, None where there is no table; fixed starts are its initial distribution."""
    if not has_transition_table(env):
        return None
    mdp = TabularMDP.from_env(env)
    if env.get_wrapper_attr("start_seed") is None:
        return mdp
    start, _ = env.reset()
    return dataclasses.replace(mdp, initial_distribution=np.eye(mdp.n_states)[start])


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _check_observation(observation: Any) -> None:
    if isinstance(observation, np.ndarray) and not np.isfinite(observation).all():
        raise ValueError(f"the observation {observation} is not finite")


def has_transition_table(env: gymnasium.Env) -> bool:
    """Whether there is a table whose states are the observations."""
    has_table = hasattr(env.unwrapped, "P") and hasattr(env.unwrapped, "initial_state_distrib")
    return has_table and isinstance(env.observation_space, Discrete)


def fingerprint(env: gymnasium.Env) -> str:
    """Digest of the environment's behaviour, the same for environments that behave alike."""
    behaviour = {
        "spaces": [str(env.observation_space), str(env.action_space)],
        "time_limit": env.spec and env.spec.max_episode_steps,
        "dynamics": _table(env) if has_transition_table(env) else _rollout(env),
    }
    return hashlib.sha256(json.dumps(behaviour, sort_keys=True).encode()).hexdigest()


def _table(env: gymnasium.Env) -> dict[str, Any]:
    described: Any = env.unwrapped
    return {
        "transitions": [
            [
                [(float(p), int(state), float(r), bool(end)) for p, state, r, end in outcomes]
                for _, outcomes in sorted(actions.items())
            ]
            for _, actions in sorted(described.P.items())
        ],
        "start": [float(probability) for probability in described.initial_state_distrib],
    }


def _rollout(env: gymnasium.Env) -> list[Any]:
    """A trace of random actions; what they do not reach, as a far goal, it does not cover."""
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    trace: list[Any] = [_rounded(observation)]
    for _ in range(ROLLOUT_STEPS):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        trace += [_rounded(observation), _rounded(reward), bool(terminated), bool(truncated)]
        if terminated or truncated:
            observation, _ = env.reset()
            trace.append(_rounded(observation))
    return trace


def _rounded(value: Any) -> list[float]:
    # Adding zero turns -0.0 into 0.0.
    return (np.round(np.ravel(value).astype(float), DECIMALS) + 0.0).tolist()


def check_fingerprint(settings: Mapping[str, Any]) -> str:
    """The environment's fingerprint; an error if it is not the one that envs.yaml gives."""
    env = make({**settings, "start": "random"})  # the same whatever its starts
    found = fingerprint(env)
    env.close()
    expected = settings.get("fingerprint")
    if expected and found != expected:
        raise SuiteError(
            f"environment {settings['id']} with {settings['kwargs']} is not the expected one: "
            f"envs.yaml has fingerprint {expected}, found {found} with gymnasium "
            f"{gymnasium.__version__}. Install the pinned version, or, if it is meant to be this "
            f"environment, write `fingerprint: {found}` into envs.yaml"
        )
    return found
