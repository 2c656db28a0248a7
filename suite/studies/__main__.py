"""The tables of one study from its run files: results/studies/NAME.csv and NAME_curves.csv.

python -m suite.studies --study alternation
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import config
from suite.aggregate import to_csv
from suite.command import write_result
from suite.studies import tables


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="suite.studies", description=__doc__.splitlines()[0])
    parser.add_argument("--study", required=True, help="a study of envs.yaml")
    parser.add_argument("--envs", default="envs.yaml", help="the choices (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)
    folder = options.results / config.STUDIES

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        evaluations = tables.load_evaluations(study, options.study, options.results)
        outcomes = tables.outcomes(evaluations, study["environments"])
        return {
            folder / f"{options.study}.csv": to_csv(outcomes),
            folder / f"{options.study}_curves.csv": to_csv(tables.curves(evaluations)),
        }

    return write_result(parser.prog, make)


if __name__ == "__main__":
    sys.exit(main())
