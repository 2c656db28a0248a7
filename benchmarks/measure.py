"""Seconds of one core, taken in turns, and the peak memory of a process.

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
from typing import Any, NamedTuple

from suite.training import provenance

Task = Callable[[], Any]


class Spread(NamedTuple):
    """The median of some measurements and their range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        values = sorted(values)
        return cls(statistics.median(values), values[0], values[-1])


def spreads(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The spread of each measurement over the rounds; counts, the same in each, as they are."""
    return {
        key: value if isinstance(value, int) else Spread.of(each[key] for each in rounds)
        for key, value in rounds[0].items()
    }


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


def ratios(slow: Iterable[float], fast: Iterable[float]) -> Spread:
    """How many times slower, round by round."""
    return Spread.of(s / f for s, f in zip(slow, fast, strict=True))


def in_own_process(function: str, *arguments: object) -> Any:
    """What `module:function` returns, in a process whose memory is its own."""
    module, name = function.split(":")
    call = f"print(json.dumps({name}(*json.loads(sys.argv[1]))))"
    program = f"import json, sys; from {module} import {name}; {call}"
    command = [sys.executable, "-c", program, json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=provenance.ROOT)  # noqa: S603
    return json.loads(done.stdout)
