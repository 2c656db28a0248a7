"""`python -m powr`."""

import os
import sys

from powr.cli import main

CLOSED_PIPE = 141


def main_into_a_pipe() -> int:
    """Like `main`, but without a word when nobody reads on (`python -m powr ... | head -1`)."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


if __name__ == "__main__":
    sys.exit(main_into_a_pipe())
