"""The multiverse: the paper's POWR under every plausible combination of settings nobody knows.

envs.yaml says which settings are open and which values are plausible. A *universe* is one
combination of them. Each claim on experiments is judged once per universe, by the same rule and
against the same runs of the baselines as at the paper scale.
"""

from suite.multiverse.shares import Share, share_of

__all__ = ["Share", "share_of"]
