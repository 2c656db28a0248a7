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


def rows(algorithm, curves, sampled=None, grid=GRID, exact=math.nan):
    """The evaluations of runs whose returns are given, one curve per seed."""
    tables = []
    for seed, curve in enumerate(curves):
        returns = np.broadcast_to(curve, len(grid)).astype(float)
        played = math.nan if sampled is None else np.broadcast_to(sampled[seed], len(grid))
        columns = {"mean": returns, "exact_return": exact, "sampled_mean": played}
        table = pd.DataFrame({"timestep": grid, **columns, "sampled_exact_return": exact})
        tables.append(table.assign(environment="Lake", algorithm=algorithm, seed=seed))
    return pd.concat(tables)


def steps_at(times, grid=GRID, high=1.0):
    """Curves that are 0 and jump to the threshold at these timesteps."""
    return [np.where(np.array(grid) >= time, high, 0.0) for time in times]


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


def arriving(times, **more):
    return rows("", steps_at(times, **more))


NEVER = rows("", [0.0] * 7)


def test_earlier_holds_against_every_baseline_or_fails_against_one():
    soon, late = arriving(1000 * SPREAD), arriving(10_000 * SPREAD)
    found = ask("earlier", soon, late)
    assert found.verdict == HOLDS
    assert found.comparisons[0].value == pytest.approx(10, rel=0.15)
    assert 5 < found.comparisons[0].low < 10 < found.comparisons[0].high < 20
    assert found.comparisons[0].improvement == 1
    assert ask("earlier", late, soon).verdict == FAILS
    assert ask("earlier", soon, {"A2C": late, "DQN": soon}).verdict == UNDECIDED
    assert ask("earlier", late, {"A2C": NEVER, "DQN": soon}).verdict == FAILS


def test_a_run_that_never_reaches_the_threshold_counts_against_what_is_tested():
    soon = arriving(1000 * SPREAD)
    found = ask("earlier", soon, NEVER)
    assert found.verdict == HOLDS
    assert found.comparisons[0].is_bound
    assert found.comparisons[0].value == pytest.approx(GRID[-1] / 1000, rel=0.15)
    assert ask("earlier", NEVER, NEVER).verdict == UNDECIDED
    # Trained for less long than POWR needs, a baseline that has not reached it may be earlier yet.
    short = rows("", [0.0] * 7, grid=[each for each in GRID if each <= 800])
    assert ask("earlier", soon, short).verdict == UNDECIDED


def test_a_lasting_or_threefold_arrival_is_another_timestep():
    curves = np.array(steps_at(1000 * SPREAD))
    curves[:, 0] = 1.0  # one lucky evaluation at first
    lucky, other = rows("", curves), arriving(400 * SPREAD)
    assert ask("earlier", lucky, other).verdict == HOLDS
    assert ask("earlier", lucky, other, times="three in a row").verdict == FAILS
    assert ask("earlier", lucky, other, times="lasting").verdict == FAILS


def test_sampled_policies_are_compared_where_both_are_on_record():
    soon, late = 1000 * SPREAD, 10_000 * SPREAD
    powr = rows("", steps_at(late), sampled=steps_at(soon))
    both = rows("", steps_at(2000 * SPREAD), sampled=steps_at(4000 * SPREAD))
    greedy_only = arriving(4000 * SPREAD)
    assert ask("earlier", powr, both).verdict == HOLDS
    assert ask("earlier", powr, both, policy="greedy").verdict == FAILS
    assert ask("earlier", powr, greedy_only).verdict == FAILS
    # What DQN samples is its exploration.
    assert ask("earlier", powr, {"DQN": both}, greedy=["DQN"]).verdict == FAILS


def test_higher_at_equal_timesteps():
    soon, late = arriving(900 * SPREAD), arriving(20_000 * SPREAD)
    assert ask("higher", soon, late).verdict == HOLDS
    assert ask("higher", late, soon).verdict == FAILS
    assert ask("higher", soon, soon).verdict == UNDECIDED
    # Higher later, but lower at 1,000 timesteps.
    crossing = rows("", [curve + (np.array(GRID) < 3000) * -5 for curve in steps_at(3000 * SPREAD)])
    assert ask("higher", crossing, late).verdict == FAILS
    slightly = rows("", [0.05 + k / 1000 for k in range(7)])
    assert ask("higher", slightly, NEVER).verdict == HOLDS
    assert ask("higher", slightly, NEVER, margin=0.1).verdict == UNDECIDED


ONLY = {"reach": {"POWR": 1000, "DQN": 10_000}, "others": {"A2C": 1_000_000}}


@pytest.mark.parametrize(("when", "returns"), [("ever", "played"), ("end", "exact")])
def test_only_some_reach_a_return(when, returns):
    def table(share, grid=GRID):
        reached = [1.0 if seed < share else 0.0 for seed in range(7)]
        parts = [rows("", [each], grid=grid, exact=each) for each in reached]
        return pd.concat([part.assign(seed=seed) for seed, part in enumerate(parts)])

    def found(powr, dqn, a2c):
        return ask("only", powr, {"DQN": dqn, "A2C": a2c}, **ONLY, when=when, returns=returns)

    assert found(table(7), table(4), table(3)).verdict == HOLDS
    assert found(table(7), table(3), table(0)).verdict == FAILS
    assert found(table(3), table(7), table(0)).verdict == FAILS
    contradicted = found(table(7), table(7), table(4))
    assert contradicted.verdict == FAILS
    assert "A2C" in contradicted.reason
    brief = [each for each in GRID if each <= 5000]
    assert found(table(7), table(7), table(0, brief)).verdict == UNDECIDED
    assert found(table(7), table(0, brief), table(0)).verdict == UNDECIDED
    assert found(table(7), table(7), table(7, brief)).verdict == FAILS


def test_the_end_of_a_run_is_the_median_of_its_last_five_evaluations():
    lucky = np.zeros(len(GRID))
    lucky[-2:] = 1.0
    reach = {"reach": {"POWR": 1}, "others": {}, "returns": "played"}
    powr = rows("", [lucky] * 7)
    assert ask("only", powr, {}, **reach, when="ever").verdict == HOLDS
    assert ask("only", powr, {}, **reach, when="end").verdict == FAILS


def test_less_stable_is_a_wider_band_and_more_so_early():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(7, len(GRID)))
    fading = np.linspace(1, 0.1, len(GRID))
    wild, calm = rows("", noise * fading), rows("", 0.05 * noise)
    assert ask("less_stable", wild, calm).verdict == HOLDS
    assert ask("less_stable", calm, wild).verdict == FAILS
    assert ask("less_stable", rows("", noise * fading[::-1]), calm).verdict == FAILS  # wider late
    assert ask("less_stable", wild, {"A2C": calm, "DQN": rows("", -noise * fading)}).verdict in (
        UNDECIDED,
        FAILS,
    )


def test_gains_lost_again():
    falling = rows("", [np.tile([0, 1 + seed / 10], 41)[: len(GRID)] for seed in range(7)])
    rising = rows("", [np.linspace(0, 1 + seed / 10, len(GRID)) for seed in range(7)])
    less = {"measure": "gains lost"}
    assert ask("less_stable", rising, falling, **less).verdict == FAILS
    assert ask("less_stable", falling, rising, **less).comparisons[0].value > 0.9


def test_varies_less():
    tight, wide = arriving(1000 + 100 * SPREAD), arriving(10_000 * SPREAD**3)
    assert ask("varies_less", tight, wide).verdict == HOLDS
    assert ask("varies_less", wide, tight).verdict == FAILS
    assert ask("varies_less", tight, tight).verdict == UNDECIDED
    assert ask("varies_less", tight, NEVER).verdict == UNDECIDED
    assert ask("varies_less", tight, {"A2C": wide, "DQN": NEVER}).verdict == HOLDS
    assert ask("varies_less", arriving([*(1000 * SPREAD[:6]), math.inf]), wide).verdict == FAILS
    # A larger spread that is smaller beside its mean.
    fine = list(range(100, 200_001, 100))
    near = rows("", steps_at(1000 * SPREAD, fine), grid=fine)
    far = rows("", steps_at(100_000 + 10_000 * SPREAD, fine), grid=fine)
    assert ask("varies_less", far, near).verdict == FAILS
    assert ask("varies_less", far, near, measure="coefficient of variation").verdict == HOLDS


def test_a_stable_amount_of_timesteps():
    limits = {"largest_variation": 0.25, "largest_factor": 2}
    assert ask("stable_amount", arriving(1000 + 100 * SPREAD), {}, **limits).verdict == HOLDS
    assert ask("stable_amount", arriving(1000 * SPREAD**4), {}, **limits).verdict == FAILS
    outlier = arriving([*[1000] * 29, 2200])
    assert ask("stable_amount", outlier, {}, **limits).verdict == UNDECIDED
    never = arriving([*(1000 * SPREAD[:6]), math.inf])
    assert ask("stable_amount", never, {}, **limits).verdict == FAILS


def test_a_ratio_that_unfinished_runs_decide_is_a_bound():
    half = arriving([1e4, 1.1e4, 1.2e4, *[math.inf] * 4])
    found = ask("earlier", arriving(1000 * SPREAD), half).comparisons[0]
    assert found.is_bound
    assert found.value < found.high == math.inf


def test_half_of_the_runs_are_not_most():
    six = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    both = {"reach": {"POWR": 1}, "others": {"A2C": 1}, "when": "ever", "returns": "played"}
    all_reach, half = rows("", [1.0] * 6), rows("", six)
    assert ask("only", all_reach, {"A2C": half}, **both).verdict == FAILS
    assert ask("only", half, {"A2C": rows("", [0.0] * 6)}, **both).verdict == FAILS


def test_a_baseline_that_never_gains_has_nothing_to_lose():
    flat = rows("", [0.0] * 7)
    found = ask(
        "less_stable", rows("", [np.tile([0, 1], 41)[: len(GRID)]] * 7), flat, measure="gains lost"
    )
    assert found.comparisons[0].value > 0.9


def test_seeds_on_different_grids_are_refused_and_short_ones_undecided():
    soon = arriving(1000 * SPREAD)
    with pytest.raises(SuiteError, match="A2C"):
        ask("earlier", soon, {"A2C": soon[(soon["seed"] > 0) | (soon["timestep"] < 500)]})
    brief = [100, 112, 126]
    short = rows("", steps_at(110 * SPREAD, brief), grid=brief)
    assert ask("higher", soon, short).verdict == UNDECIDED
    assert ask("less_stable", soon, short).verdict == UNDECIDED


def test_too_few_seeds_and_missing_runs_leave_a_cell_undecided():
    soon, late = arriving(1000 * SPREAD), arriving(10_000 * SPREAD)
    two = late[late["seed"] < 2]
    for rule in ("earlier", "higher", "less_stable", "varies_less"):
        found = ask(rule, soon, {"A2C": late, "DQN": two})
        assert (found.verdict, "DQN" in found.reason) == (UNDECIDED, True)
        assert ask(rule, soon, {"A2C": late, "DQN": late.iloc[:0]}).verdict == UNDECIDED
