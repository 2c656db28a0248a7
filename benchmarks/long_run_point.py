"""One agent trained for a long time, in a process of its own so that its memory is its own.

    python -m benchmarks.long_run_point ENVIRONMENT TIMESTEPS

prints as JSON what it had taken at each doubling of the timesteps, settings as in envs.yaml.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import threadpoolctl

from powr import POWR
from suite import config
from suite.training import algorithms, provenance

DOUBLINGS = 7
SCALE = "paper"


class Log:
    """The callback of training: what the agent has taken at each doubling."""

    def __init__(self, name: str, timesteps: int) -> None:
        self.name = name
        self.due = [timesteps >> k for k in reversed(range(DOUBLINGS))]
        self.rows: list[dict[str, Any]] = []

    def __call__(self, agent: POWR) -> bool:
        if agent.num_timesteps == self.due[len(self.rows)]:
            self.rows.append(
                {
                    "timesteps": agent.num_timesteps,
                    "cpu_seconds": time.process_time(),
                    "resident_bytes": provenance.resident_memory_bytes(),
                    "peak_bytes": provenance.peak_memory_bytes(),
                    "states": len(agent._coefficients),
                    "carrying": int(agent._coefficients.any(axis=1).sum()),
                }
            )
            print(f"{self.name}: {self.rows[-1]}", file=sys.stderr, flush=True)
        return len(self.rows) == len(self.due)


def main() -> None:
    name, timesteps = sys.argv[1], int(sys.argv[2])
    study = config.load(provenance.ROOT / "envs.yaml")
    learn = algorithms.build(config.resolve(study, SCALE, name, "powr"), {"agent": 0})
    log = Log(name, timesteps)
    with threadpoolctl.threadpool_limits(1):
        learn(timesteps, callback=log)
    print(json.dumps(log.rows))


if __name__ == "__main__":
    main()
