"""Speed and growth of the solver, one table per question: `make bench`.

    python -m benchmarks.speed [--only TABLE ...] [--quick] [--repeats N] [--out FOLDER]

Prints the tables and writes them as CSV, with the figure of the growth, to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import threadpoolctl

from benchmarks import growth, growth_figure, june, printed_algorithm, tabular
from benchmarks.measure import RESULTS, publish
from powr.files import write_together
from powr.shell import count
from suite.training import provenance

BENCHMARKS = {
    "printed-algorithm": printed_algorithm.tables,
    "growth": growth.tables,
    "episode": growth.episode_tables,
    "june": june.tables,
    "tabular": tabular.tables,
}


def run(names: list[str], quick: bool, repeats: int, out: Path) -> None:
    """Print and write each table as soon as it is measured."""
    load = os.getloadavg()[0]
    machine = provenance.collect() | {"cores": os.cpu_count(), "load_average": load}
    print(f"{machine['cpu']}, {machine['cores']} cores, load {load:.1f}; CPU seconds of one core")
    write_together({out / "machine.json": json.dumps(machine, indent=1) + "\n"})
    for name in names:
        print(f"\n> python -m benchmarks.speed --only {name}", flush=True)
        for table in BENCHMARKS[name](quick, repeats):
            publish(table, out)
    if "growth" in names:
        write_together(growth_figure.files(out / "growth.csv"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--repeats", type=count, default=3, help="rounds (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="default: benchmarks/results, quick/ below it")
    options = parser.parse_args(arguments)
    out = options.out or (RESULTS / "quick" if options.quick else RESULTS)
    with threadpoolctl.threadpool_limits(1):
        run(options.only, options.quick, options.repeats, out)
    print(f"\nTables as CSV and the figure growth.pdf: {os.path.relpath(out)}")


if __name__ == "__main__":
    main()
