"""The one command line of the suite: python -m suite VERB [OPTIONS].

Each verb is the `main` of a module, imported only when it is asked for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from suite.command import exit_code

VERBS = {
    "check": ("suite.training.algorithms", "what is wrong in a study, before anything runs"),
    "run": ("suite.training.run", "train one algorithm on one environment with one seed"),
    "aggregate": ("suite.results.aggregate", "the tables of a scale, from its run files"),
    "figure": ("suite.plots.render", "one figure, from the tables of a scale"),
    "claims": ("suite.claims.judge", "the verdict on each claim of the paper"),
    "report": ("suite.report.report", "the page that shows a scale: results/SCALE/report.html"),
    "theory": ("suite.theory.tables", "the tables of the paper's theorems by numbers"),
    "multiverse": ("suite.multiverse", "POWR under every plausible combination of settings"),
    "readme": ("suite.claims.page", "the README's answer and table, from the paper scale"),
    "verify": ("suite.verify", "make what is shipped again, and compare"),
}


def usage() -> str:
    lines = [f"  {verb:<15} {purpose}" for verb, (_, purpose) in VERBS.items()]
    return "\n".join(
        ["usage: python -m suite VERB [OPTIONS]", "", *lines, "", "VERB --help lists its options."]
    )


def main(arguments: Sequence[str]) -> int:
    verb, *options = arguments or ["--help"]
    if verb in ("-h", "--help"):
        print(usage())
        return 0
    if verb not in VERBS:
        print(f"suite: {verb} is not one of {', '.join(VERBS)}", file=sys.stderr)
        return 2
    module, _ = VERBS[verb]
    return importlib.import_module(module).main(options)


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
