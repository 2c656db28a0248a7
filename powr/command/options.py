"""The options of the command line; those of the agent are read off `POWR` itself."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any, NoReturn

from powr import kernels
from powr.agent import POWR
from powr.solvers import METHODS

# The exit code of every call that cannot be understood.
BAD_INPUT = 2


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser() -> Parser:
    parser = Parser(prog="python -m powr", description=inspect.getdoc(sys.modules["powr"]))
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    training = add_command(commands, "train", "train an agent and save it")
    training.add_argument("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(training)
    training.add_argument(
        "--timesteps", required=True, type=count, metavar="N", help="environment steps to take"
    )
    training.add_argument(
        "--save", required=True, type=Path, metavar="FILE", help="the .npz to write"
    )
    add_agent_settings(training.add_argument_group("settings of the agent"))

    evaluation = add_command(commands, "evaluate", "play episodes with a saved agent")
    add_agent(evaluation)
    evaluation.add_argument(
        "--episodes", type=count, default=100, metavar="N", help="episodes of each policy"
    )

    rendering = add_command(commands, "render", "draw an episode of a saved agent")
    add_agent(rendering)
    rendering.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the .gif to write"
    )
    rendering.add_argument(
        "--sampled", action="store_true", help="sample actions instead of taking the likeliest"
    )

    explaining = add_command(commands, "explain", "draw what a saved agent thinks")
    add_saved_agent(explaining)
    explaining.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="a .png, or a .gif for an animation over training; default: the agent's name with "
        ".png, in this folder",
    )
    explaining.add_argument(
        "--show",
        nargs="+",
        metavar="WHAT",
        help="some of value, policy, visits and uncertainty; default: all of them, or for Taxi the "
        "value with the policy on it",
    )
    return parser


def add_command(commands: Any, name: str, summary: str) -> Parser:
    return commands.add_parser(
        name, help=summary, description=summary, formatter_class=Formatter, allow_abbrev=False
    )


class Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the defaults that are numbers or words."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        shown = isinstance(action.default, int | float | str) and action.nargs != 0
        return super()._get_help_string(action) if shown else action.help


def add_agent(parser: Parser) -> None:
    add_saved_agent(parser)
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the episodes")
    parser.add_argument("--max-steps", type=count, metavar="N", help="end an episode after N steps")


def add_saved_agent(parser: Parser) -> None:
    parser.add_argument("agent", type=Path, metavar="FILE", help="an agent saved by train")
    parser.add_argument(
        "--env", metavar="ID", help="use this environment, not the one the agent was trained in"
    )
    add_env_kwargs(parser)


def add_env_kwargs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--env-kwargs",
        nargs="+",
        type=keyword,
        default=[],
        metavar="KEY=VALUE",
        help="for gymnasium.make, values in JSON: is_slippery=false map_name=8x8",
    )


def add_agent_settings(group: Any) -> None:
    """The keywords of `POWR` as options, with their defaults and their lines of its docstring."""
    descriptions = described_parameters(POWR.__doc__ or "")
    group.add_argument("--kernel", choices=tuple(kernels.BUILT_IN), help=descriptions.get("kernel"))
    group.add_argument(
        "--bandwidth", nargs="+", type=float, metavar="X", help="one, or one per dimension"
    )
    for name, (kind, default) in agent_settings().items():
        option = f"--{name.replace('_', '-')}"
        if kind is bool:
            action = argparse.BooleanOptionalAction
            group.add_argument(option, action=action, default=default, help=descriptions.get(name))
            continue
        group.add_argument(
            option,
            type=kind,
            default=default,
            choices=METHODS if name == "method" else None,
            metavar={int: "N", float: "X"}.get(kind),
            help=descriptions.get(name),
        )


def agent_settings() -> dict[str, tuple[type, Any]]:
    """The numbers, words and flags that `POWR` takes as keywords: their types and defaults."""
    parameters = inspect.signature(POWR).parameters.values()
    types = {"int": int, "float": float, "str": str, "bool": bool}
    kinds = {p.name: types.get(str(p.annotation).removesuffix(" | None")) for p in parameters}
    return {p.name: (kind, p.default) for p in parameters if (kind := kinds[p.name]) is not None}


def described_parameters(docstring: str) -> dict[str, str]:
    """The text of each parameter in a docstring of numpy's layout, as help for argparse."""
    entries = re.findall(r"^    (\w[\w, ]*) : (.*(?:\n     +.*)*)", docstring, re.MULTILINE)
    return {
        name: " ".join(text.replace("%", "%%").split())
        for names, text in entries
        for name in names.split(", ")
    }


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def seed(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return int(text)


def keyword(text: str) -> tuple[str, Any]:
    """KEY=VALUE with a value in JSON; what is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not (equals and key.isidentifier()):
        raise ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    if value in ("True", "False", "None"):
        raise ArgumentTypeError(f"values are JSON: true, false or null, got {text!r}")
    try:
        return key, json.loads(value, parse_constant=refuse_constant)
    except ValueError:
        return key, value


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
