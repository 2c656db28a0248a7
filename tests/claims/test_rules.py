"""Every rule of the eight sentences, each way."""

import math

import numpy as np
import pandas as pd
import pytest

from suite import SuiteError
from suite.claims.evaluations import Evaluations
from suite.claims.rules import FAILS, HOLDS, RULES, UNDECIDED, Question

GRID = [round(100 * 10 ** (k / 20)) for k in range(81)]  # 100 to 1,000,000
BASELINES = ("A2C", "DQN", "PPO", "TRPO")
SPREAD = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3])


def rows(curves, sampled=None, grid=GRID, exact=math.nan):
    """The evaluations of runs whose returns are given, one curve per seed."""
    tables = []
    for seed, curve in enumerate(curves):
        returns = np.broadcast_to(curve, len(grid)).astype(float)
        played = math.nan if sampled is None else np.broadcast_to(sampled[seed], len(grid))
        columns = {"mean": returns, "exact_return": exact, "sampled_mean": played}
        table = pd.DataFrame({"timestep": grid, **columns, "sampled_exact_return": exact})
        tables.append(table.assign(environment="Lake", algorithm="", seed=seed))
    return pd.concat(tables)


def steps_at(times, grid=GRID, high=1.0):
    """Curves that are 0 and jump to the threshold at these timesteps."""
    return [np.where(np.array(grid) >= time, high, 0.0) for time in times]


def reaching_at(times, grid=GRID, high=1.0):
    return rows(steps_at(times, grid, high), grid=grid)


def ask(rule, powr, baselines, threshold=1.0, policy="sampled", greedy=(), **options):
    """`baselines`: a table for all four, or one table for each by its name."""
    if not isinstance(baselines, dict):
        baselines = dict.fromkeys(BASELINES, baselines)
    tables = [powr.assign(algorithm="powr")]
    tables += [table.assign(algorithm=name) for name, table in baselines.items()]
    question = Question(
        Evaluations(pd.concat(tables), greedy),
        ("Lake", "powr"),
        {name: ("Lake", name) for name in baselines},
        threshold,
        0.05,
        policy,
    )
    return RULES[rule](question, **options)


def reaching(share, grid=GRID, seeds=7):
    """Runs of which as many have the return 1, by either return, from first to last."""
    tables = [rows([seed < share], grid=grid, exact=float(seed < share)) for seed in range(seeds)]
    return pd.concat([table.assign(seed=seed) for seed, table in enumerate(tables)])


NEVER = rows([0.0] * 7)
SOON, LATE = reaching_at(1000 * SPREAD), reaching_at(10_000 * SPREAD)
LUCKY = np.array(steps_at(1000 * SPREAD))
LUCKY[:, 0] = 1.0  # one lucky evaluation at first
ALMOST = reaching_at([*(1000 * SPREAD[:6]), math.inf])
# Trained for less long than POWR needs, a baseline that has not reached it may be earlier yet.
SHORT = rows([0.0] * 7, grid=[each for each in GRID if each <= 800])
BRIEF = [each for each in GRID if each <= 5000]
THREE = reaching_at(110 * SPREAD, grid=[100, 112, 126])
# What DQN samples is its exploration; policies are compared where both are on record.
GREEDY_LATE = rows(steps_at(10_000 * SPREAD), sampled=steps_at(1000 * SPREAD))
BOTH = rows(steps_at(2000 * SPREAD), sampled=steps_at(4000 * SPREAD))
AT_4000 = reaching_at(4000 * SPREAD)
# Higher later, but lower at 1,000 timesteps.
CROSSING = rows([curve + (np.array(GRID) < 3000) * -5 for curve in steps_at(3000 * SPREAD)])
SLIGHTLY = rows([0.05 + k / 1000 for k in range(7)])
NOISE, FADING = np.random.default_rng(0).normal(size=(7, len(GRID))), np.linspace(1, 0.1, len(GRID))
WILD, CALM = rows(NOISE * FADING), rows(0.05 * NOISE)
FALLING = rows([np.tile([0, 1 + seed / 10], 41)[: len(GRID)] for seed in range(7)])
RISING = rows([np.linspace(0, 1 + seed / 10, len(GRID)) for seed in range(7)])
TIGHT, WIDE = reaching_at(1000 + 100 * SPREAD), reaching_at(10_000 * SPREAD**3)
# The last run would have reached it at any time after the end of its training.
CUT_SHORT = reaching_at([*([1100] * 6), math.inf], [each for each in GRID if each <= 1300])
# A larger spread that is smaller beside its mean.
FINE = list(range(100, 200_001, 100))
NEAR, FAR = reaching_at(1000 * SPREAD, FINE), reaching_at(100_000 + 10_000 * SPREAD, FINE)
LIMITS = {"largest_variation": 0.25, "largest_factor": 2}


@pytest.mark.parametrize(
    ("rule", "powr", "baselines", "options", "verdict"),
    [
        ("earlier", SOON, LATE, {}, HOLDS),
        ("earlier", LATE, SOON, {}, FAILS),
        ("earlier", SOON, {"A2C": LATE, "DQN": SOON}, {}, UNDECIDED),
        ("earlier", LATE, {"A2C": NEVER, "DQN": SOON}, {}, FAILS),
        ("earlier", NEVER, NEVER, {}, UNDECIDED),
        ("earlier", SOON, SHORT, {}, UNDECIDED),
        ("earlier", rows(LUCKY), reaching_at(400 * SPREAD), {}, HOLDS),
        ("earlier", rows(LUCKY), reaching_at(400 * SPREAD), {"times": "three in a row"}, FAILS),
        ("earlier", rows(LUCKY), reaching_at(400 * SPREAD), {"times": "lasting"}, FAILS),
        ("earlier", GREEDY_LATE, BOTH, {}, HOLDS),
        ("earlier", GREEDY_LATE, BOTH, {"policy": "greedy"}, FAILS),
        ("earlier", GREEDY_LATE, AT_4000, {}, FAILS),
        ("earlier", GREEDY_LATE, {"DQN": BOTH}, {"greedy": ["DQN"]}, FAILS),
        ("higher", SOON, LATE, {}, HOLDS),
        ("higher", LATE, SOON, {}, FAILS),
        ("higher", SOON, SOON, {}, UNDECIDED),
        ("higher", CROSSING, LATE, {}, FAILS),
        ("higher", SLIGHTLY, NEVER, {}, HOLDS),
        ("higher", SLIGHTLY, NEVER, {"margin": 0.1}, UNDECIDED),
        ("higher", SOON, THREE, {}, UNDECIDED),
        ("less_stable", WILD, CALM, {}, HOLDS),
        ("less_stable", CALM, WILD, {}, FAILS),
        ("less_stable", rows(NOISE * FADING[::-1]), CALM, {}, FAILS),  # wider late
        ("less_stable", WILD, {"A2C": CALM, "DQN": rows(-NOISE * FADING)}, {}, UNDECIDED),
        ("less_stable", RISING, FALLING, {"measure": "gains lost"}, FAILS),
        ("less_stable", SOON, THREE, {}, UNDECIDED),
        ("varies_less", TIGHT, WIDE, {}, HOLDS),
        ("varies_less", WIDE, TIGHT, {}, FAILS),
        ("varies_less", TIGHT, TIGHT, {}, UNDECIDED),
        ("varies_less", TIGHT, NEVER, {}, UNDECIDED),
        ("varies_less", TIGHT, {"A2C": WIDE, "DQN": NEVER}, {}, HOLDS),
        ("varies_less", WIDE, CUT_SHORT, {}, UNDECIDED),
        ("varies_less", ALMOST, WIDE, {}, FAILS),
        ("varies_less", FAR, NEAR, {}, FAILS),
        ("varies_less", FAR, NEAR, {"measure": "coefficient of variation"}, HOLDS),
        ("stable_amount", TIGHT, {}, LIMITS, HOLDS),
        ("stable_amount", reaching_at(1000 * SPREAD**4), {}, LIMITS, FAILS),
        ("stable_amount", reaching_at([*[1000] * 29, 2200]), {}, LIMITS, UNDECIDED),
        ("stable_amount", ALMOST, {}, LIMITS, FAILS),
    ],
)
def test_verdict(rule, powr, baselines, options, verdict):
    assert ask(rule, powr, baselines, **options).verdict == verdict


ONLY = {"reach": {"POWR": 1000, "DQN": 10_000}, "others": {"A2C": 1_000_000}}


@pytest.mark.parametrize(("when", "returns"), [("ever", "played"), ("end", "exact")])
@pytest.mark.parametrize(
    ("powr", "dqn", "a2c", "verdict", "reason"),
    [
        (reaching(7), reaching(4), reaching(3), HOLDS, ""),
        (reaching(7), reaching(3), reaching(0), FAILS, "DQN"),
        (reaching(3), reaching(7), reaching(0), FAILS, "POWR"),
        (reaching(7), reaching(7), reaching(4), FAILS, "A2C"),
        (reaching(7), reaching(7), reaching(0, BRIEF), UNDECIDED, "A2C"),
        (reaching(7), reaching(0, BRIEF), reaching(0), UNDECIDED, "DQN"),
        (reaching(7), reaching(7), reaching(7, BRIEF), FAILS, "A2C"),
        # Half of the runs are not most.
        (reaching(6, seeds=6), reaching(6, seeds=6), reaching(3, seeds=6), FAILS, "A2C"),
        (reaching(3, seeds=6), reaching(6, seeds=6), reaching(0, seeds=6), FAILS, "POWR"),
    ],
)
def test_only_some_reach_a_return(when, returns, powr, dqn, a2c, verdict, reason):
    cell = ask("only", powr, {"DQN": dqn, "A2C": a2c}, **ONLY, when=when, returns=returns)
    assert cell.verdict == verdict
    assert cell.reason.endswith(reason)


def test_the_end_of_a_run_is_the_median_of_its_last_five_evaluations():
    lucky = np.zeros(len(GRID))
    lucky[-2:] = 1.0
    reach = {"reach": {"POWR": 1}, "others": {}, "returns": "played"}
    assert ask("only", rows([lucky] * 7), {}, **reach, when="ever").verdict == HOLDS
    assert ask("only", rows([lucky] * 7), {}, **reach, when="end").verdict == FAILS


def test_the_effect_is_a_ratio_with_its_interval():
    best = ask("earlier", SOON, LATE).comparisons[0]
    assert best.value == pytest.approx(10, rel=0.15)
    assert 5 < best.low < 10 < best.high < 20
    assert best.improvement == 1


def test_a_ratio_that_unfinished_runs_decide_is_a_bound():
    cell = ask("earlier", SOON, NEVER)
    assert cell.verdict == HOLDS
    assert cell.comparisons[0].bound == "at least"
    assert cell.comparisons[0].value == pytest.approx(GRID[-1] / 1000, rel=0.15)
    half = reaching_at([1e4, 1.1e4, 1.2e4, *[math.inf] * 4])
    comparison = ask("earlier", SOON, half).comparisons[0]
    assert comparison.bound == "at least"
    assert comparison.value < comparison.high == math.inf
    cell = ask("earlier", NEVER, LATE)
    assert cell.verdict == FAILS
    assert cell.comparisons[0].bound == "at most"
    assert cell.comparisons[0].value == pytest.approx(10_000 / GRID[-1], rel=0.15)
    assert "at least 100" in cell.effect
    assert "no ratio: 0 of 7" in ask("earlier", NEVER, NEVER).effect


@pytest.mark.parametrize("baseline", [RISING, NEVER])  # the second has nothing to lose
def test_gains_lost_again(baseline):
    cell = ask("less_stable", FALLING, baseline, measure="gains lost")
    assert cell.comparisons[0].value > 0.9


def test_seeds_on_different_grids_are_refused():
    with pytest.raises(SuiteError, match="A2C"):
        ask("earlier", SOON, {"A2C": SOON[(SOON["seed"] > 0) | (SOON["timestep"] < 500)]})


@pytest.mark.parametrize("rule", ["earlier", "higher", "less_stable", "varies_less"])
@pytest.mark.parametrize("seeds", [0, 2])
def test_too_few_seeds_and_missing_runs_leave_a_cell_undecided(rule, seeds):
    cell = ask(rule, SOON, {"A2C": LATE, "DQN": LATE[LATE["seed"] < seeds]})
    assert (cell.verdict, "DQN" in cell.reason) == (UNDECIDED, True)
