"""The algorithms of the study by name, imported when they are trained or their settings checked.

`class: rmax` in envs.yaml means the class at `CLASSES["rmax"]`; a study adds classes of its own.
A class takes an environment, a seed and its settings: examples/my_agent.py is a whole one.
`learn(timesteps, callback)` calls the callback with the agent after every timestep and stops if it
returns False; `num_timesteps` counts them; `predict(observations, deterministic=True)` returns a
batch of actions and None. `action_probabilities(observations)` is needed only if envs.yaml sets
`sampled: true`. The constructor raises ValueError for a setting or an environment that the
algorithm cannot handle. The class may take `make_env`, `agent_seed` and `training_seed` instead of
`env` and `seed`.
"""

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OWN = {"powr": "powr:POWR"}
CLASSICAL = {
    "cme_value_iteration": "baselines.classical.cme_value_iteration:CMEValueIteration",
    "dyna_q": "baselines.classical.q_learning:DynaQ",
    "lspi": "baselines.classical.lspi:LSPI",
    "optimistic_q": "baselines.classical.q_learning:OptimisticQ",
    "psrl": "baselines.classical.psrl:PSRL",
    "random_play": "baselines.classical.agent:RandomPlay",
    "rmax": "baselines.classical.rmax:RMax",
    "sarsa_lambda": "baselines.classical.sarsa_lambda:SarsaLambda",
}
DEEP = {
    "a2c": "baselines.sb3:A2C",
    "dqn": "baselines.sb3:DQN",
    "ppo": "baselines.sb3:PPO",
    "trpo": "baselines.sb3:TRPO",
}
BUILT_IN = {**OWN, **CLASSICAL, **DEEP}
CLASSES = dict(BUILT_IN)  # and those of the studies that were loaded
# Arguments that a constructor gets from the suite, or from its wrapper in `sb3`: no settings.
GIVEN = {"self", "env", "make_env", "seed", "agent_seed", "training_seed"}
GIVEN |= {"observation_space", "action_space", "device"}


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
    constructors = [
        vars(base)["__init__"] for base in algorithm.__mro__[:-1] if "__init__" in vars(base)
    ]
    if hasattr(algorithm, "model_class"):
        constructors.append(algorithm.model_class.__init__)
    found: dict[str, inspect.Parameter] = {}
    for constructor in constructors:
        parameters = inspect.signature(constructor).parameters
        found = {**parameters, **found}
        if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            break
    return {
        name: parameter
        for name, parameter in found.items()
        if name not in GIVEN and parameter.kind is not parameter.VAR_KEYWORD
    }
