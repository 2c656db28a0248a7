"""Calls of a command line within the test's own process."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Ended(NamedTuple):
    code: Any
    out: str
    err: str


def call(capsys, main: Callable[[Sequence[str]], int], arguments: Sequence[Any]) -> Ended:
    """What a call returned and printed, whether argparse ended it or the program."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    return Ended(code, *capsys.readouterr())


def refused_in_one_line(capsys, main, arguments: str, message: str) -> None:
    """Bad input: exit code 2, and one line of error that holds the message."""
    ended = call(capsys, main, arguments.split())
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert message in ended.err
