"""One module a figure, which reads aggregated tables only."""

import suite  # noqa: F401  first, so that Ctrl-C shows no traceback while libraries are imported
