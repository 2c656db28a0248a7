"""`python -m powr`."""

import sys
import warnings

from powr.command import main
from powr.shell import exit_code

if __name__ == "__main__":
    warnings.formatwarning = lambda message, *_, **__: f"python -m powr: warning: {message}\n"
    sys.exit(exit_code(main))
