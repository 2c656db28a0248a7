"""One run and its evaluation, the tables made of many runs, and what they say about the paper."""

import signal
import sys

# `python -m suite` comes here first. Until a verb handles signals itself, Ctrl-C ends it as `kill`
# does, without a traceback from within the libraries that it imports.
if sys.argv[0] == "-m" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class SuiteError(Exception):
    """A mistake in the input, shown to the user as one message and never as a traceback.

    It may quote the input: what would change a terminal is shown escaped.
    """

    def __str__(self) -> str:
        return "".join(
            each if each.isprintable() or each == "\n" else ascii(each)[1:-1]
            for each in super().__str__()
        )
