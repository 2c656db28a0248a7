"""The options of the command line; settings are read off the signatures of the agents."""

from __future__ import annotations

import argparse
import inspect
import json
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from optimistic_powr import OptimisticPOWR

from powr import POWR
from powr.command.shell import Parser
from powr.kernels import BUILT_IN

ALGORITHMS: dict[str, Any] = {"powr": POWR, "optimistic": OptimisticPOWR}

TYPES: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
HELP = {
    "gamma": "discount factor",
    "step_size": "step size of mirror descent",
    "mirror_steps": "steps of mirror descent per plan",
    "regularization": "ridge of the world model",
    "episodes_per_epoch": "episodes between two plans",
    "restart": "start each plan from the uniform policy",
    "method": "solver of the action values: auto, exact or nystrom",
    "max_rank": "state-action pairs up to which auto is exact, and largest rank of nystrom",
    "prior": "value of unvisited state-action pairs",
    "plan_within_episodes": "plan also during episodes",
    "cautious": "show a policy that avoids unvisited state-action pairs",
    "keep_best": "show the plan of the best episodes if the last are worse",
    "terminal_values": "take a reward paid on termination for the terminal state's value",
    "seed": "seed of all random draws",
}


def make_parser() -> Parser:
    parser = Parser(prog="python -m powr", description="Train, evaluate and draw POWR agents.")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    def add_command(name: str, summary: str, *parts: Any) -> Any:
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        for add_part in parts:
            add_part(command)
        return command.add_argument

    add_command("train", "train an agent and save it", add_training)
    add = add_command("evaluate", "play episodes with a saved agent", add_agent, add_episode)
    add("--episodes", type=count, default=100, metavar="N", help="of each policy (default: 100)")

    add = add_command("render", "write an episode as a GIF", add_agent, add_episode)
    add("--out", required=True, type=Path, metavar="FILE", help="the .gif to write")
    add("--sampled", action="store_true", help="sample actions, not the most probable ones")

    add = add_command("explain", "draw value, policy and visits of a saved agent", add_agent)
    add("--out", type=Path, metavar="FILE", help="the .png (default: the agent's name, here)")
    add("--show", nargs="+", metavar="WHAT", help="some of value, policy, visits (default: all)")
    return parser


def add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", type=Path, metavar="FILE", help="an agent saved by train")
    parser.add_argument("--env", metavar="ID", help="default: the one of training")
    add_env_kwargs(parser)


def add_episode(parser: argparse.ArgumentParser) -> None:
    add, seed = parser.add_argument, lambda text: count(text, least=0)
    add("--seed", type=seed, default=0, metavar="N", help="of the episodes (default: 0)")
    add("--max-steps", type=count, metavar="N", help="end an episode after N steps")


def add_env_kwargs(parser: argparse.ArgumentParser) -> None:
    about = "for gymnasium.make, values in JSON: is_slippery=false map_name=8x8"
    option: Any = {"nargs": "+", "type": keyword, "default": [], "metavar": "KEY=VALUE"}
    parser.add_argument("--env-kwargs", help=about, **option)


def add_training(parser: argparse.ArgumentParser) -> None:
    """The settings of all agents are options; those not given are left out of what is parsed."""
    add = parser.add_argument
    about = "powr: the paper's, the default; optimistic: an extension of it"
    add("--algorithm", choices=tuple(ALGORITHMS), default="powr", help=about)
    add("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(parser)
    add("--timesteps", required=True, type=timesteps, metavar="N", help="steps to take, as in 1e4")
    add("--save", required=True, type=Path, metavar="FILE", help="the .npz to write")
    add = parser.add_argument_group("settings, with their defaults").add_argument
    add("--kernel", choices=tuple(BUILT_IN), help="default: Dirac, or Exponential in boxes")
    add("--bandwidth", nargs="+", type=float, metavar="X", help="one, or one per dimension")
    parameters = {key: inspect.signature(cls).parameters for key, cls in ALGORITHMS.items()}
    for name, about in HELP.items():
        found = {key: each[name] for key, each in parameters.items() if name in each}
        kind = TYPES[next(iter(found.values())).annotation.removesuffix(" | None")]
        option: Any = {"type": kind, "metavar": "N" if kind is int else "X"}
        if kind is bool:
            option = {"action": argparse.BooleanOptionalAction}
        defaults = ", ".join(f"{key}: {each.default}" for key, each in found.items())
        about = f"{about} ({defaults.replace('None', 'from the task')})"
        add(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, help=about, **option)


def count(text: str, least: int = 1) -> int:
    if text.isdecimal() and int(text) >= least:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")


def timesteps(text: str) -> int:
    """Like `count`, but 1e4 is 10000."""
    try:
        return count(f"{float(text):.0f}" if float(text).is_integer() else text)
    except ValueError:
        return count(text)


def keyword(text: str) -> tuple[str, Any]:
    """KEY=VALUE with a value in JSON; what is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not (equals and key.isidentifier()):
        raise ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    if value in ("True", "False", "None"):
        raise ArgumentTypeError(f"values are JSON: true, false or null, got {text!r}")
    try:
        return key, json.loads(value, parse_constant=int)  # which refuses NaN, as JSON does
    except ValueError:
        return key, value
