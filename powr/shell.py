"""What command lines share: one line for bad arguments, and no message for a closed pipe."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

BAD_INPUT = 2  # the exit code of every call that cannot be understood


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def count(text: str, least: int = 1) -> int:
    """A whole number from `least` on; 1e4 is one, too."""
    try:
        number = float(text)
        if number.is_integer() and number >= least:
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")


def add_env_kwargs(add: Callable) -> None:
    about = "for gymnasium.make, values in JSON: is_slippery=false map_name=8x8"
    option: Any = {"nargs": "+", "type": keyword, "default": [], "metavar": "KEY=VALUE"}
    add("--env-kwargs", help=about, **option)


def keyword(text: str) -> tuple[str, Any]:
    """KEY=VALUE with a value in JSON; what is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not (equals and key.isidentifier()):
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    if value in ("True", "False", "None"):
        raise argparse.ArgumentTypeError(f"values are JSON: true, false or null, got {text!r}")
    try:
        return key, json.loads(value, parse_constant=int)  # which refuses NaN, as JSON does
    except ValueError:
        return key, value


def exit_code(main: Callable[[], int]) -> int:
    """What `main` returns; a closed pipe, as after `| head -1`, ends it without a message."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):  # which Python flushes once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 128 + signal.SIGPIPE
