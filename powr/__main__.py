"""`python -m powr`."""

import sys

from powr.cli import main

if __name__ == "__main__":
    sys.exit(main())
