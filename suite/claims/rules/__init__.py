"""The rules that decide a claim: each turns data and a claim's parameters into a verdict.

claims.yaml states the rules in words. A rule sees nothing but the arrivals and the evaluations of
the runs, and keeps what it found beside its verdict. Rules on theorems need no runs: both sides are
computed. CONTRIBUTING.md says how to add a rule.
"""

from collections.abc import Mapping

from suite.claims.rules import alone, comparisons, theory
from suite.claims.verdicts import Rule

THEORY_RULES = theory.RULES
_ALL: list[Rule] = [*comparisons.RULES, *alone.RULES, *THEORY_RULES]
RULES: Mapping[str, Rule] = {rule.__name__: rule for rule in _ALL}
