"""The algorithms of the study, looked up by name: one module for each that POWR is compared with.

`powr` and `optimistic_powr` are the library's own classes. The modules of `planners` are variants
of OptimisticPOWR for ablations.

`class: rmax` in envs.yaml means the class of classic/rmax.py, the only public one defined there.
Such a class takes an environment, a seed and its settings, and implements the interface that every
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

`action_probabilities(observations)` is needed only if envs.yaml sets `sampled: true`. A class whose
sampled policy is only its exploration sets `samples_to_explore = True`. The constructor raises
ValueError for a setting or an environment that the algorithm cannot handle. The class may take
`make_env`, `agent_seed` and `training_seed` instead of `env` and `seed`.
"""

import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from typing import Any

from optimistic_powr import OptimisticPOWR

from powr import POWR
from powr.agent import Agent

OWN = {"powr": POWR, "optimistic_powr": OptimisticPOWR}
FAMILIES = ("classic", "deep", "planners")
PLACES = " or ".join(f"baselines/{family}" for family in FAMILIES)
# Arguments that the suite passes to a constructor, so envs.yaml cannot set them.
GIVEN = frozenset({"self", "env", "make_env", "seed", "agent_seed", "training_seed", "device"})


def family(name: str) -> str | None:
    """The family that contains the module of this name; None for the library's own classes."""
    return None if name in OWN else _module(name).split(".")[-2]


def is_of_library(algorithm: type[Any]) -> bool:
    """Whether a class is POWR or its extension, and not a variant of them for an ablation."""
    return issubclass(algorithm, Agent) and not getattr(algorithm, "is_ablation", False)


def samples_to_explore(name: str) -> bool:
    """Whether what this class samples is its exploration, and no policy to be judged by."""
    return getattr(find(name), "samples_to_explore", False)


def find(name: str) -> type[Any]:
    """The library's class of this name, or the class that the module of this name defines."""
    if name in OWN:
        return OWN[name]
    path = _module(name)
    defined = [
        entry
        for entry in vars(importlib.import_module(path)).values()
        if isinstance(entry, type)
        and entry.__module__ == path
        and not entry.__name__.startswith("_")
        and not inspect.isabstract(entry)
    ]
    if len(defined) != 1 or not hasattr(defined[0], "learn"):
        raise ValueError(f"the module {path} does not define exactly one algorithm")
    return defined[0]


def _module(name: str) -> str:
    for family in FAMILIES:
        path = f"planners.{name}" if family == "planners" else f"{__name__}.{family}.{name}"
        if importlib.util.find_spec(path):
            return path
    raise ValueError(f"no module {name} in {PLACES}, and it is not one of {', '.join(OWN)}")


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
