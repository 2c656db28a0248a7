"""What commands share: one line for bad arguments, and no message for a closed pipe."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

BAD_INPUT = 2  # the exit code of every call that cannot be understood


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


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
