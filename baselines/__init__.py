"""The algorithms of the study by name, imported when they are trained or their settings checked.

`class: rmax` in envs.yaml means the class at `CLASSES["rmax"]`; a study adds classes of its own.
A class takes an environment, a seed and its settings, and implements the interface that every
agent of the suite has. This example acts at random:

    class RandomActions:
        num_timesteps = 0

        def __init__(self, env, *, seed, noise=1.0):
            self.env, self.rng, self.noise = env, np.random.default_rng(seed), noise

        def learn(self, timesteps, callback):
            self.env.reset(seed=0)
            while self.num_timesteps < timesteps:
                _, _, terminated, truncated, _ = self.env.step(self.rng.integers(2))
                if terminated or truncated:
                    self.env.reset()
                self.num_timesteps += 1
                if callback(self) is False:  # evaluates; False means stop
                    break
            return self

        def predict(self, observations, deterministic=True):
            return self.rng.integers(2, size=len(observations)), None

`action_probabilities(observations)` is needed only if envs.yaml sets `sampled: true`. The
constructor raises ValueError for a setting or an environment that the algorithm cannot handle. The
class may take `make_env`, `agent_seed` and `training_seed` instead of `env` and `seed`.
"""

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OWN = {"powr": "powr:POWR"}
CLASSICAL = {
    "cme_value_iteration": "baselines.classic.cme_value_iteration:CMEValueIteration",
    "dyna_q": "baselines.classic.dyna_q:DynaQ",
    "lspi": "baselines.classic.lspi:LSPI",
    "optimistic_q": "baselines.classic.optimistic_q:OptimisticQ",
    "psrl": "baselines.classic.psrl:PSRL",
    "random_play": "baselines.classic.random_play:RandomPlay",
    "rmax": "baselines.classic.rmax:RMax",
    "sarsa_lambda": "baselines.classic.sarsa_lambda:SarsaLambda",
}
DEEP = {
    "a2c": "baselines.deep.a2c:A2C",
    "dqn": "baselines.deep.dqn:DQN",
    "ppo": "baselines.deep.ppo:PPO",
    "trpo": "baselines.deep.trpo:TRPO",
}
BUILT_IN = {**OWN, **CLASSICAL, **DEEP}
CLASSES = dict(BUILT_IN)  # and those of the studies that were loaded
# Those whose sampled policy is only their exploration, and no policy to be judged by.
EXPLORERS = frozenset({"dqn"})
# Arguments that the suite passes to a constructor, so envs.yaml cannot set them.
GIVEN = frozenset(
    {
        "self",
        "env",
        "observation_space",
        "action_space",
        "make_env",
        "seed",
        "agent_seed",
        "training_seed",
        "device",
    }
)


def register(classes: Mapping[str, str], folder: Path) -> None:
    """Add a study's classes: module:Class, or file.py:Class with a file in its folder."""
    for name, path in classes.items():
        place, _, attribute = path.partition(":")
        is_file = place.endswith(".py")
        CLASSES[name] = f"{folder / place}:{attribute}" if is_file else path


def find(name: str) -> type[Any]:
    """The class of this name; a ValueError where there is none."""
    if name not in CLASSES:
        raise ValueError(f"class {name} is not one of {', '.join(CLASSES)}")
    place, _, attribute = CLASSES[name].rpartition(":")
    try:
        return getattr(_module(place), attribute)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"class {name} cannot be imported from {place}: {error}") from error


@functools.cache
def _module(place: str) -> Any:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    spec = importlib.util.spec_from_file_location(Path(place).stem, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings_of(algorithm: type[Any]) -> dict[str, inspect.Parameter]:
    """The settings of an algorithm, from its signature.

    If a constructor forwards further keywords, they are those of its base class or of its
    `model_class`.
    """
    found: dict[str, inspect.Parameter] = {}
    for constructor in _constructors(algorithm):
        parameters = inspect.signature(constructor).parameters
        found = {**parameters, **found}
        if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            break
    return {
        name: parameter
        for name, parameter in found.items()
        if name not in GIVEN and parameter.kind is not parameter.VAR_KEYWORD
    }


def _constructors(algorithm: type[Any]) -> Iterator[Any]:
    for base in algorithm.__mro__[:-1]:
        if "__init__" in vars(base):
            yield vars(base)["__init__"]
    if hasattr(algorithm, "model_class"):
        yield algorithm.model_class.__init__
