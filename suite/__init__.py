"""One run and its evaluation, the tables made of many runs, and what they say about the paper."""


class SuiteError(Exception):
    """A mistake in the input, shown to the user as one message and never as a traceback."""
