"""The tables of the ablations, their figures and their page, from made-up run files."""

import copy

import pandas as pd
import pytest

from extension.ablations import choices, page, tables
from extension.ablations import planners as planners_figure
from suite import SuiteError
from suite.results import aggregate
from suite.results.tables import read_results
from tests.support.run_files import RAW, clock, csv_text, study_of, write_run

PLANNERS = ["optimistic-policy-iteration", "optimistic-value-iteration"]
PLAN = {
    "seeds": 3,
    "algorithms": ["optimistic-powr"],
    "timesteps": {"FrozenLake-v1": 1000, "MountainCar-v0": 1000},
}
ABLATIONS = {
    "none": {**PLAN, "change": "default settings"},
    "task": {**PLAN, "change": "another discount", "settings": {"gamma": [0.9]}},
    "planners": {
        **PLAN,
        "seeds": 1,
        "algorithms": ["optimistic-powr", *PLANNERS],
        "settings": {"plan_within_episodes": [None, False], "prior": [None, -1.0]},
    },
}


@pytest.fixture
def raw():
    raw = copy.deepcopy({**RAW, "ablations": ABLATIONS})
    for name in ("optimistic-powr", *PLANNERS):
        own = {"class": name.replace("-", "_"), "source": {"kind": "this project's defaults"}}
        raw["algorithms"][name] = {**raw["algorithms"]["powr"], **own}
    raw["classes"] = {name.replace("-", "_"): "planners:Planner" for name in PLANNERS}
    raw["classes"]["optimistic_powr"] = "optimistic_powr:OptimisticPOWR"
    return raw


@pytest.fixture
def study(raw):
    return study_of(raw)


@pytest.fixture
def results(study, tmp_path):
    """On FrozenLake seed 2 never arrives, and with another discount none; the car always does.

    Planners arrive early there, between episodes late; value iteration without optimism never.
    """
    for name, plan in study.ablations.items():
        for each in plan.combinations():
            for run in each.runs:
                late = 1.0 if run.seed < 2 and name == "none" else 0.0
                early = late if run.seed == 0 else 0.0
                if name == "planners":
                    is_value = run.algorithm == PLANNERS[1]
                    late = 0.0 if is_value and "prior" in each.varied else 1.0
                    early = 0.0 if "plan_within_episodes" in each.varied else late
                if run.environment == "MountainCar-v0":
                    early, late = -200.0, -105.0
                write(tmp_path, each, run, csv_text({100: early, 1000: late}))
    return tmp_path


def write(results, combination, run, text, cpu=(5.0, 9.0)):
    spent = clock({100: 0, 1000: 0}, 0.1, 1.0)
    for entry, seconds in zip(spent["evaluations"], cpu, strict=True):
        entry |= {"cpu_seconds": seconds, "evaluation_cpu_seconds": 1.0}
    write_run(results, run, text, settings=combination.settings, **spent)


def read(study, results):
    """What `aggregate` makes of finished runs."""
    for name, text in aggregate.aggregate(study, "ablations", results, partial=True).items():
        path = results / "ablations" / name
        path.write_text(text)
    return read_results(study, "ablations", results / "ablations")


def both(study, results):
    """Both tables, as they are read from their files."""
    found = read(study, results)
    made = (tables.tabulate(study, found), tables.tabulate_planners(study, found))
    for name, table in zip(page.TABLES, made, strict=True):
        table.to_csv(results / f"{name}.csv", index=False)
    return [pd.read_csv(results / f"{name}.csv") for name in page.TABLES]


def test_one_row_per_environment_and_ablation(study, results):
    table = tables.tabulate(study, read(study, results))
    assert table[["environment", "ablation"]].to_numpy().tolist() == [
        ["FrozenLake-v1", "none"],
        ["FrozenLake-v1", "task"],
        ["MountainCar-v0", "none"],
        ["MountainCar-v0", "task"],
    ]
    ice, never, car, _ = table.to_dict("records")
    assert (ice["threshold"], ice["timesteps"], ice["seeds"], ice["n_reached"]) == (0.8, 1000, 3, 2)
    assert ice["first_arrivals"] == "100 1000"
    assert ice["median_first_arrival"] == ice["median_lasting_arrival"] == 1000
    assert ice["late_return"] == pytest.approx(2 / 3)
    assert ice["cpu_seconds"] == 5.0
    assert never["n_reached"] == 0
    assert never["first_arrivals"] == ""
    assert pd.isna(never["median_first_arrival"])
    assert pd.isna(never["median_lasting_arrival"])
    assert car["late_return"] == -105


def test_exact_returns_come_before_played_ones(study, results):
    for each in study.ablations["none"].combinations():
        for run in each.runs:
            write(results, each, run, csv_text({100: 1.0, 1000: 1.0}, exact=-0.5))
    ice = tables.tabulate(study, read(study, results)).iloc[0]
    assert (ice["n_reached"], ice["late_return"]) == (0, 0.5)


def test_missing_runs_are_counted(study, results):
    for each in study.ablations["task"].combinations():
        for run in each.runs:
            if run.environment == "MountainCar-v0":
                (results / run.path).unlink()
    table, planners = both(study, results)
    assert table["seeds"].tolist() == [3, 3, 3, 0]
    assert table["seeds_planned"].tolist() == [3, 3, 3, 3]
    text = page.render(table, planners)
    assert "**9 of the 12 runs are finished.**" in text
    assert "of the 24 runs" not in text
    assert "| MountainCar-v0 | −110 | 1,000 | `task` | 0 of 3 | – | – | – | – | – |" in text


def test_two_combinations_in_one_ablation_are_refused(raw, results):
    raw["ablations"]["task"]["settings"] = {"gamma": [0.9, 0.99]}
    study = study_of(raw)
    with pytest.raises(SuiteError, match=r"ablations\.task: has 2 combinations on FrozenLake-v1"):
        tables.tabulate(study, read(study, results))


def test_the_page_shows_the_numbers_of_the_table(study, results):
    text = page.render(*both(study, results))
    assert "| `task` | another discount |" in text
    assert (
        "| FrozenLake-v1 | 0.8 | 1,000 | `none` | 3 of 3 | 2 of 3 | 1,000 | 1,000 | 0.67 | 5 |"
        in text
    )
    assert "`task` | 3 of 3 | 0 of 3 | never | never | 0.00 | 5 |" in text
    assert "runs are finished" not in text
    assert (
        "| FrozenLake-v1 | between | on | value iteration | 1 of 1 | 1 of 1 | 1,000 | 1,000 |"
        in text
    )
    # Not alike are the two rhythms on FrozenLake where value iteration never arrives.
    assert "In 6 of 8 combinations of environment, rhythm and optimism" in text
    assert "or none arrives (in 0)." in text
    assert "7 of 12 combinations of all else, and optimism or none in 10 of 12." in text


def test_the_figure_shows_every_seed(study, results):
    table, _ = both(study, results)
    ice, _ = choices.draw(table).axes

    def drawn(label):
        return [list(line.get_xdata()) for line in ice.lines if line.get_label() == label]

    assert drawn("arrived") == [[100, 1000], []]
    assert [len(dots) for dots in drawn("never")] == [1, 3]
    assert all(dot > 1000 for dots in drawn("never") for dot in dots)
    assert drawn("median") == [[1000, 1000]]
    assert [label.get_text() for label in ice.get_yticklabels()] == [
        "default settings",
        "another discount",
    ]


def test_planners_of_one_combination_stand_side_by_side(study, results):
    table = tables.tabulate_planners(study, read(study, results))
    assert len(table) == 24
    columns = ["rhythm", "optimism", "planner", "first_arrivals"]
    ice = table[table["environment"] == "FrozenLake-v1"][columns].to_numpy().tolist()
    assert ice[:6] == [
        ["within", "on", "mirror descent", "100"],
        ["within", "on", "policy iteration", "100"],
        ["within", "on", "value iteration", "100"],
        ["within", "off", "mirror descent", "100"],
        ["within", "off", "policy iteration", "100"],
        ["within", "off", "value iteration", ""],
    ]
    assert [rhythm for rhythm, *_ in ice[6:]] == ["between"] * 6
    assert [arrival for *_, arrival in ice[6:]] == ["1000"] * 5 + [""]


def test_partial_runs_of_the_planners_are_shown_and_counted(study, results):
    for each in study.ablations["planners"].combinations():
        for run in each.runs:
            if "value" in run.algorithm:
                (results / run.path).unlink()
    choices_table, table = both(study, results)
    assert table["seeds"].sum() == 16
    text = page.render(choices_table, table)
    assert "**16 of the 24 runs are finished.**" in text
    assert "| value iteration | 0 of 1 | – | – | – | – | – |" in text
    assert "combinations of environment, rhythm and optimism the three" not in text
    figure = planners_figure.draw(table)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written == ["no run yet"] * 4
    assert "8 of 24 runs are missing." in " ".join(figure.get_supxlabel().split())


def test_the_figure_of_the_planners_tells_them_by_colour(study, results):
    _, table = both(study, results)
    figure = planners_figure.draw(table)
    ice, _ = figure.axes
    dots = [line for line in ice.lines if line.get_label() in ("arrived", "never")]
    by_colour = {}
    for line in dots:
        by_colour.setdefault(line.get_markeredgecolor(), []).extend(line.get_xdata())
    mirror, policy, value = (by_colour[colour] for colour in planners_figure.COLOURS.values())
    assert mirror == policy == [100, 100, 1000, 1000]
    assert value[::2] == [100, 1000]
    assert all(time > 1000 for time in value[1::2])
    assert [label.get_text() for label in ice.get_yticklabels()] == [
        "plans within episodes,\noptimistic",
        "plans within episodes,\nnot optimistic",
        "plans between episodes,\noptimistic",
        "plans between episodes,\nnot optimistic",
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "mirror descent",
        "policy iteration",
        "value iteration",
    ]


@pytest.mark.parametrize(
    ("medians", "alike"),
    [
        ([100, 150, 200], True),
        ([100, 150, 201], False),
        ([None, None, None], True),
        ([100, 100, None], False),
    ],
)
def test_medians_are_alike_within_a_factor_of_two(medians, alike):
    rows = pd.DataFrame({"median_first_arrival": pd.Series(medians, dtype=float)})
    assert page.are_alike(rows) is alike
