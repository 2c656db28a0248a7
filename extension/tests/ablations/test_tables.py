"""The tables of the ablations, their figures and their page, from made-up run files."""

import copy

import pandas as pd
import pytest
import yaml
from ablations import page, tables
from ablations.tables import main

from suite import SuiteError, config
from suite.plots import choices
from suite.plots import planners as planners_figure
from suite.results.run_file import RunFileError
from tests.support.run_files import STUDY, csv_text, write_run

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
def study():
    study = copy.deepcopy({**STUDY, "ablations": ABLATIONS})
    for name in ("optimistic-powr", *PLANNERS):
        own = {"class": name.replace("-", "_"), "source": {"kind": "this project's defaults"}}
        study["algorithms"][name] = {**study["algorithms"]["powr"], **own}
    return study


@pytest.fixture
def results(study, tmp_path):
    """On FrozenLake seed 2 never arrives, and with another discount none; the car always does.

    Planners arrive early there, between episodes late; value iteration without optimism never.
    """
    for name in study["ablations"]:
        for variant, run in config.variant_runs(study, name):
            late = 1.0 if run.seed < 2 and name == "none" else 0.0
            early = late if run.seed == 0 else 0.0
            if name == "planners":
                is_value = run.algorithm == PLANNERS[1]
                late = 0.0 if is_value and "prior" in variant.varied else 1.0
                early = 0.0 if "plan_within_episodes" in variant.varied else late
            if run.environment == "MountainCar-v0":
                early, late = -200.0, -105.0
            write(tmp_path, variant, run, csv_text({100: early, 1000: late}))
    return tmp_path


def write(results, variant, run, text, cpu=(5.0, 9.0)):
    times = [{"cpu_seconds": seconds, "evaluation_cpu_seconds": 1.0} for seconds in cpu]
    write_run(results, run, text, settings=variant.resolved, evaluations=times)


@pytest.fixture
def command(study, results, tmp_path):
    envs = tmp_path / "envs.yaml"
    envs.write_text(yaml.safe_dump(study))
    return ["--envs", str(envs), "--results", str(results)]


def test_one_row_per_environment_and_ablation(study, results):
    table = tables.tabulate(study, results)
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
    for variant, run in config.variant_runs(study, "none"):
        write(results, variant, run, csv_text({100: 1.0, 1000: 1.0}, exact=-0.5))
    ice = tables.tabulate(study, results).iloc[0]
    assert (ice["n_reached"], ice["late_return"]) == (0, 0.5)


def test_missing_runs_stop_the_command_or_are_counted(study, results, command, capsys):
    for _, run in config.variant_runs(study, "task"):
        if run.environment == "MountainCar-v0":
            (results / run.path).unlink()
    assert main(command) == 1
    # 12 runs of two ablations and 24 of the planners, of which they share two.
    fault = "3 of 34 runs of the ablations are missing"
    assert f"{fault}: run `make ablations`" in capsys.readouterr().err
    assert main([*command, "--partial"]) == 0
    assert fault in capsys.readouterr().err
    table = pd.read_csv(results / "ablations" / "ablations.csv")
    assert table["seeds"].tolist() == [3, 3, 3, 0]
    assert table["seeds_planned"].tolist() == [3, 3, 3, 3]
    text = page.render(table, pd.read_csv(results / "ablations" / "planners.csv"))
    assert "**9 of the 12 runs are finished.**" in text
    assert "of the 24 runs" not in text
    assert "| MountainCar-v0 | −110 | 1,000 | `task` | 0 of 3 | – | – | – | – | – |" in text


def test_two_variants_in_one_ablation_are_refused(study, results):
    study["ablations"]["task"]["settings"]["gamma"] = [0.9, 0.99]
    with pytest.raises(SuiteError, match=r"ablations\.task: has 2 variants on FrozenLake-v1"):
        tables.tabulate(study, results)


def test_a_run_without_its_cpu_time_is_named(study, results):
    variant, run = config.variant_runs(study, "none")[0]
    write(results, variant, run, csv_text({100: 1.0, 1000: 1.0}), cpu=())
    with pytest.raises(RunFileError, match=f"{run.path.name}.*does not tell the CPU time"):
        tables.tabulate(study, results)


def test_the_page_shows_the_numbers_of_the_table(results, command, tmp_path):
    assert main(command) == 0
    out = tmp_path / "page.md"
    assert page.main(["--results", str(results), "--out", str(out)]) == 0
    text = out.read_text()
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


def test_the_figure_shows_every_seed(results, command):
    assert main(command) == 0
    table = pd.read_csv(results / "ablations" / "ablations.csv")
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
    table = tables.tabulate_planners(study, results)
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


def test_partial_runs_of_the_planners_are_shown_and_counted(study, results, command):
    missing = [run for _, run in config.variant_runs(study, "planners") if "value" in run.algorithm]
    for run in missing:
        (results / run.path).unlink()
    assert main([*command, "--partial"]) == 0
    table = pd.read_csv(results / "ablations" / "planners.csv")
    assert table["seeds"].sum() == 16
    text = page.render(pd.read_csv(results / "ablations" / "ablations.csv"), table)
    assert "**16 of the 24 runs are finished.**" in text
    assert "| value iteration | 0 of 1 | – | – | – | – | – |" in text
    assert "combinations of environment, rhythm and optimism the three" not in text
    figure = planners_figure.draw(table)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written == ["no run yet"] * 4
    assert "8 of 24 runs are missing." in " ".join(figure.get_supxlabel().split())


def test_the_figure_of_the_planners_tells_them_by_colour(results, command):
    assert main(command) == 0
    figure = planners_figure.draw(pd.read_csv(results / "ablations" / "planners.csv"))
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
