"""The command line, `python -m powr`."""
