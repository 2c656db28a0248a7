"""`python -m powr`."""

import signal
import sys
import warnings

from powr.command import main

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a closed pipe, as after `| head -1`
    warnings.formatwarning = lambda message, *_, **__: f"python -m powr: warning: {message}\n"
    sys.exit(main())
