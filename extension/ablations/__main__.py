"""Ablations of OptimisticPOWR: their tables, or their figures and page from shipped tables.

python -m extension.ablations tables
python -m extension.ablations page
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from extension.ablations import choices, page, planners, tables
from suite import config
from suite.command import exit_code, make_parser, write_result
from suite.plots.render import draw_files
from suite.results.tables import read_results, read_table, to_csv

STUDY = Path("extension/study.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("ablations", __doc__)
    parser.add_argument("what", choices=("tables", "page"))
    parser.add_argument("--envs", default=STUDY, help="the study (default: %(default)s)")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str | bytes]:
        study = config.load(options.envs)
        folder = study.results / config.ABLATIONS
        if options.what == "tables":
            results = read_results(study, config.ABLATIONS, folder)
            return {
                folder / "ablations.csv": to_csv(tables.tabulate(study, results)),
                folder / "planners.csv": to_csv(tables.tabulate_planners(study, results)),
            }
        text = page.render(*(read_table(folder / f"{name}.csv") for name in page.TABLES))
        figures = study.folder / "figures" / "ablations"
        return {
            **draw_files(choices, folder, figures / "choices"),
            **draw_files(planners, folder, figures / "planners"),
            folder / "ablations.md": text,
        }

    return write_result(parser.prog, make)


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
