"""Seconds of one core, taken in turns, the peak memory of a process, and tables of them.

Seconds are the CPU time of the process, which runs on one thread: on an idle machine the same as
the clock's, on a busy one without the time spent waiting for a core.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from powr.files import write_together
from suite.training import provenance

RESULTS = provenance.ROOT / "benchmarks" / "results"
MIB = 2**20
Task = Callable[[], Any]


def timed(task: Task) -> tuple[float, Any]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def in_turns(tasks: dict[str, Task], repeats: int) -> dict[str, tuple[list[float], Any]]:
    """Seconds of each task in each round, and what it returned in the last.

    Each task runs once a round, so that what disturbs a round disturbs all alike.
    """
    rounds = [{name: timed(task) for name, task in tasks.items()} for _ in range(repeats)]
    return {name: ([each[name][0] for each in rounds], rounds[-1][name][1]) for name in tasks}


def in_own_process(function: str, *arguments: object) -> Any:
    """What `module:function` returns, in a process whose memory is its own."""
    module, name = function.split(":")
    call = f"print(json.dumps({name}(*json.loads(sys.argv[1]))))"
    program = f"import json, sys; from {module} import {name}; {call}"
    command = [sys.executable, "-c", program, json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=provenance.ROOT)  # noqa: S603
    return json.loads(done.stdout)


def spread(column: str, values: Iterable[float]) -> dict[str, float]:
    """The median of some measurements and their range, in three columns."""
    values = list(values)
    low, high = min(values), max(values)
    return {column: statistics.median(values), f"{column} min": low, f"{column} max": high}


def ratios(column: str, slow: Iterable[float], fast: Iterable[float]) -> dict[str, float]:
    """How many times slower, round by round."""
    return spread(column, (s / f for s, f in zip(slow, fast, strict=True)))


def spreads(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The spread of each measurement over the rounds; counts, the same in each, as they are."""
    row: dict[str, Any] = {}
    for column, value in rounds[0].items():
        each = [measured[column] for measured in rounds]
        row |= {column: value} if isinstance(value, int) else spread(column, each)
    return row


class Table(NamedTuple):
    """Rows of measurements that share their columns."""

    name: str
    question: str
    rows: list[dict[str, Any]]
    notes: str = ""


def publish(table: Table, out: Path) -> None:
    """Print the medians, and write medians and ranges with every digit."""
    import pandas as pd  # not above: the memory of a process that is measured would include it

    frame = pd.DataFrame(table.rows)
    medians = frame.loc[:, [not column.endswith((" min", " max")) for column in frame]]
    shown = medians.to_string(index=False, na_rep="-", float_format=as_text)
    print(f"\n{table.question}\n\n{shown}\n\n{table.notes}".rstrip(), flush=True)
    write_together({out / f"{table.name}.csv": frame.to_csv(index=False)})


def as_text(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
