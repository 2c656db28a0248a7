"""The one command line of the suite: python -m suite VERB [OPTIONS].

Each verb is the `main` of a module, imported only when it is asked for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from powr.shell import exit_code

VERBS = {
    "check": ("suite.training.preflight", "what is wrong in envs.yaml, before anything runs"),
    "run": ("suite.training.run", "train one algorithm on one environment with one seed"),
    "compare": (
        "suite.compare.command",
        "both POWRs and the algorithms that fit an environment of yours",
    ),
    "aggregate": ("suite.results.aggregate", "the tables of a scale, from its run files"),
    "figure": ("suite.plots.render", "one figure, from the tables of a scale"),
    "claims": ("suite.claims.ledger", "the verdict on each claim of the paper"),
    "cost": ("suite.results.cost", "what the runs of a scale took"),
    "ladder": ("suite.results.ladder", "timesteps to threshold of all algorithms, and the floor"),
    "report": ("suite.report.report", "the page that shows a scale: results/SCALE/report.html"),
    "theory": ("suite.theory.tables", "the tables of the paper's theorems by numbers"),
    "ablations": ("suite.ablations.tables", "the table of the ablations, from their run files"),
    "ablations-page": ("suite.ablations.page", "docs/ablations.md, from the ablations' table"),
    "multiverse": ("suite.multiverse.command", "in what share of plausible settings a claim holds"),
    "readme": ("suite.release.readme", "the README's answer and table, from the paper scale"),
    "cards": ("suite.release.cards", "a model card beside the trained agents of a scale"),
    "crate": ("suite.release.crate", "ro-crate-metadata.json: verdicts and evidence for machines"),
    "manifest": ("suite.release.manifest", "the list of what is shipped, with checksums"),
    "verify": ("suite.release.verify", "make what is shipped again, and compare"),
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
