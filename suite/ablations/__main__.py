"""The tables of one ablation from its run files: results/ablations/NAME.csv and NAME_curves.csv.

python -m suite.ablations --ablation alternation
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import config
from suite.ablations import tables
from suite.command import write_result
from suite.results.aggregate import to_csv


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="suite.ablations", description=__doc__.splitlines()[0])
    parser.add_argument("--ablation", required=True, help="an ablation of envs.yaml")
    parser.add_argument("--envs", default="envs.yaml", help="the choices (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)
    folder = options.results / config.ABLATIONS

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        evaluations = tables.load_evaluations(study, options.ablation, options.results)
        outcomes = tables.outcomes(evaluations, study["environments"])
        return {
            folder / f"{options.ablation}.csv": to_csv(outcomes),
            folder / f"{options.ablation}_curves.csv": to_csv(tables.curves(evaluations)),
        }

    return write_result(parser.prog, make)


if __name__ == "__main__":
    sys.exit(main())
