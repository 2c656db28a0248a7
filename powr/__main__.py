"""`python -m powr`."""

import os
import sys
import warnings

from powr.command.main import main

if __name__ == "__main__":
    warnings.formatwarning = lambda message, *_, **__: f"python -m powr: warning: {message}\n"
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on, as after `| head -1`, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        code = 141
    sys.exit(code)
