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

from benchmarks import episode, growth, growth_figure, june, printed_algorithm, tabular, targets
from benchmarks.table import RESULTS, publish
from powr.command.options import count
from powr.files import write_together
from suite.training import provenance

BENCHMARKS = {module.NAME: module for module in (printed_algorithm, growth, episode, june, tabular)}


def describe(machine: dict) -> str:
    blas = {
        f"{pool['internal_api']} {pool['version']} ({pool['architecture']}), "
        f"{pool['num_threads']} thread"
        for pool in machine["thread_pools"]
        if pool["user_api"] == "blas"
    }
    versions = ", ".join(f"{name} {machine['packages'][name]}" for name in ("numpy", "scipy"))
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_average']:.1f}; "
        f"{'; '.join(sorted(blas))}; Python {machine['python']}, {versions}\n"
        "Seconds are CPU seconds of one core: median (least to most over the repeats)."
    )


def run(names: list[str], quick: bool, repeats: int, out: Path) -> None:
    """Print and write each table as soon as it is measured, then judge all that are there."""
    load = {"cores": os.cpu_count(), "load_average": os.getloadavg()[0]}
    machine = provenance.collect() | load
    print(describe(machine), flush=True)
    write_together({out / "machine.json": json.dumps(machine, indent=1) + "\n"})
    for name in names:
        print(f"\n> python -m benchmarks.speed --only {name}", flush=True)
        for table in BENCHMARKS[name].tables(quick, repeats):
            publish(table, out)
    if growth.NAME in names:
        write_together(growth_figure.files(out / f"{growth.NAME}.csv"))
    if not quick and (judged := targets.judge(out)):
        publish(judged, out)


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
