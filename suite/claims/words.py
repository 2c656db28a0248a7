"""What was seen, in a few words, and marks of verdicts, for pages and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from suite.claims.cells import FAILS, HOLDS, UNDECIDED
from suite.claims.judge import Case, Judged

IN_PART = "in part"
MARKS = {HOLDS: "✔", IN_PART: "◐", FAILS: "✘", UNDECIDED: "?"}

ByCase = Mapping[Case, Sequence[Judged]]  # the cells of one sentence


def mark(verdict: str) -> str:
    """A sign with its word."""
    word = verdict if verdict in MARKS else IN_PART
    return f"{MARKS[word]} {word}"


def seen(sentence: str, cells: ByCase, labels: Mapping[Case, str]) -> str:
    """At most a dozen words on one sentence; `labels` names the cases that are shown."""
    shown = {case: cells[case] for case in labels}
    if sentence == "quicker":
        return _ratios(shown)
    if sentence == "sample-complexity":
        return _checkpoints(shown)
    if len(next(iter(shown.values()))) == 1:
        return _counts(shown, labels)
    return _places(shown, labels)


def _ratios(cells: ByCase) -> str:
    """The ratio to the best baseline under its better settings, on each environment."""
    smallest: dict[str, float] = {}
    for judged in (each for found in cells.values() for each in found if each.cell.comparisons):
        value = judged.cell.comparisons[0].value
        smallest[judged.environment] = min(value, smallest.get(judged.environment, value))
    if not smallest:
        return "no comparison yet"
    low, high = min(smallest.values()), max(smallest.values())
    return f"{low:.0f} to {high:.0f} times fewer than the best baseline needs"


def _checkpoints(cells: ByCase) -> str:
    """Where POWR has the lower return."""
    lower: dict[str, list[str]] = {}
    for judged in (each for found in cells.values() for each in found):
        for comparison in judged.cell.comparisons:
            if comparison.p_against <= 0.05:
                timestep = comparison.subject.rpartition(" at ")[2]
                lower.setdefault(judged.environment, []).append(timestep)
    if not lower:
        return "never lower at any checkpoint"
    parts = []
    for environment, timesteps in lower.items():
        ordered = sorted(set(timesteps), key=lambda text: int(text.replace(",", "")))
        until = ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
        parts.append(f"lower on {environment} at {until} timesteps")
    return "; ".join(parts) + ", else higher or equal"


def _counts(cells: ByCase, labels: Mapping[Case, str]) -> str:
    """Seeds that reach the return, by algorithm; cases that agree are named together."""
    by_effect: dict[str, list[str]] = {}
    for case, (judged,) in cells.items():
        by_effect.setdefault(judged.cell.effect.replace(" of 7", ""), []).append(labels[case])
    by_effect.pop("", None)
    return "; ".join(f"{' and '.join(names)}: {effect}" for effect, names in by_effect.items())


def _places(cells: ByCase, labels: Mapping[Case, str]) -> str:
    """On which environments the sentence holds, by case."""
    holding: dict[tuple[str, ...], list[str]] = {}
    environments = [each.environment for each in next(iter(cells.values()))]
    for i, environment in enumerate(environments):
        where = tuple(labels[case] for case in cells if cells[case][i].cell.verdict == HOLDS)
        holding.setdefault(where, []).append(environment)
    parts = []
    for where, places in holding.items():
        when = "always" if len(where) == len(labels) else " and ".join(where) or "never"
        parts.append(f"{', '.join(places)}: {when}")
    return "; ".join(parts)
