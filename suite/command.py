"""How a command begins and ends: the options that verbs share, and files that appear together.

Bad input, a full disk, Ctrl-C and `kill` show no traceback and leave no file behind.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from powr.files import written_aside
from suite import SuiteError

STOPPING = (signal.SIGINT, signal.SIGTERM)

# What a verb may ask for by name, with the same meaning everywhere.
OPTIONS: dict[str, dict[str, Any]] = {
    "--scale": {"required": True, "help": "a scale of the study"},
    "--partial": {
        "action": "store_true",
        "help": "use the finished runs, though others are missing",
    },
    "--envs": {"default": "envs.yaml", "help": "the study (default: %(default)s)"},
    "--claims": {"default": "claims.yaml", "help": "the claims (default: %(default)s)"},
    "--deviations": {"default": "deviations.yaml", "help": "the deviations (default: %(default)s)"},
    "--results": {"type": Path, "help": "folder of the run files (default: the study's)"},
    "--out-dir": {"type": Path, "help": "default: the scale's folder in the results"},
}


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser(verb: str, description: str | None, *options: str) -> Parser:
    """The parser of a verb: the first line of its module's text, and options of `OPTIONS`."""
    about = (description or "").partition("\n")[0]
    parser = Parser(prog=f"python -m suite {verb}", description=about)
    for name in options:
        parser.add_argument(name, **OPTIONS[name])
    return parser


class Stopped(BaseException):
    """A signal asked the command to end."""


def write_result(program: str, make: Callable[[], Mapping[Path, str | bytes]]) -> int:
    """Write the files that `make` returns, in its order; the exit code of the program."""
    with handlers_restored():
        try:
            handle(stop)
            files = make()
            handle(signal.SIG_IGN)  # writing takes milliseconds
            write_together(files)
        except SuiteError as error:
            return fail(program, error)
        except OSError as error:
            return fail(program, f"nothing was written: {error}")
        except Stopped as stopped:
            handle(signal.SIG_IGN)  # one is enough
            (signum,) = stopped.args
            name = signal.Signals(signum).name
            return fail(program, f"stopped by {name}, nothing was written", 128 + signum)
    return 0


def write_together(files: Mapping[Path, str | bytes]) -> None:
    """Write several files and the folders they need.

    All are on the disk before the first appears; they appear in the order given.
    """
    with ExitStack() as stack:
        for path, content in reversed(list(files.items())):  # contexts end in reverse
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(written_aside(path))
            try:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:  # a failed write does not name its file
                raise OSError(error.errno, error.strerror, str(path)) from error


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


def fail(program: str, message: object, code: int = 1) -> int:
    print(f"{program}: {message}", file=sys.stderr)
    return code


def stop(signum: int, frame: FrameType | None) -> None:
    raise Stopped(signum)


def handle(handler: Any) -> None:
    for signum in STOPPING:
        signal.signal(signum, handler)


@contextmanager
def handlers_restored() -> Iterator[None]:
    handlers = [signal.getsignal(signum) for signum in STOPPING]
    try:
        yield
    finally:
        for signum, handler in zip(STOPPING, handlers, strict=True):
            signal.signal(signum, handler)
