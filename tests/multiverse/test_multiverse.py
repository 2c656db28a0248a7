"""The multiverse from made-up runs: verdicts, shares counted by hand, the page and the figure."""

from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from suite.multiverse import read
from suite.multiverse.command import main
from suite.multiverse.shares import count
from suite.multiverse.universes import Question
from suite.plots import multiverse as figure
from suite.results import aggregate
from tests.support.run_files import RAW, clock, csv_text, study_of, write_run

LAKE, CAR = "FrozenLake-v1", "MountainCar-v0"
MULTIVERSE = {
    "algorithm": "powr",
    "timesteps": {LAKE: 1000, CAR: 1000},
    "seeds": {LAKE: 3, CAR: 3},
    "settings": {"step_size": [0.1, 1.0], "restart": [False, True]},
    "environments": {CAR: {"kernel": [{"name": "Gaussian"}, {"name": "Exponential"}]}},
}
BOTH = {LAKE: 0.8, CAR: -110.0}


def claim(name, thresholds, **more):
    parameters = {"thresholds": thresholds, "algorithm": "powr", "others": ["dqn"], **more}
    words = {"claim": f"On {name}.", "place": "Figure 2", "quote": "quicker"}
    rule = {"rule": "earlier", "against": ["defaults"], "parameters": parameters}
    return {"id": name, **words, **rule}


CLAIMS = {
    "scale": "tiny",
    "level": 0.05,
    "sets": {"defaults": {"name": "Library defaults", "label": "defaults", "counterparts": {}}},
    "rules": {"earlier": {"statistic": "ratio", "decision": "p"}},
    "claims": [
        claim("lake", {LAKE: 0.8}),
        claim("both", BOTH),
        claim("both-sampled", BOTH, policy="sampled"),
    ],
}


def returns_of(variant):
    """On the lake POWR arrives with small steps only, on the car with the Gaussian kernel only."""
    if variant.environment == LAKE:
        return 1.0 if variant.varied["step_size"] == 0.1 else 0.0
    return -105.0 if variant.varied["kernel"]["name"] == "Gaussian" else -200.0


def write_study(results):
    """DQN arrives late; POWR's own runs of the scale are perfect, and must not be counted."""
    raw = {**RAW, "multiverse": MULTIVERSE}
    study = study_of(raw)
    for run in study.scales["tiny"].runs():
        last = study.scales["tiny"].combination(*run[1:3]).settings["timesteps"]
        own = run.algorithm == "powr"
        low, top = (0.0, 1.0) if run.environment == LAKE else (-200.0, -105.0)
        means = {t: top if own or t == last else low for t in (100, 1000, 5000) if t <= last}
        text = csv_text(means, sampled=top if own else "")
        write_run(results, run, text, study=study, **clock(means, 0.1, 1.0))
    for variant in study.multiverse.combinations():
        late = returns_of(variant)
        early = min(late, 0.0 if variant.environment == LAKE else -200.0)
        text = csv_text({100: late, 1000: late}, sampled=early)
        for run in variant.runs:
            write_run(results, run, text, settings=variant.settings, **clock({100: 0}, 0.1, 1.0))
    for scale in ("tiny", "multiverse"):
        write_tables(results, scale, study)
    (results / "envs.yaml").write_text(yaml.safe_dump(raw, sort_keys=False))
    (results / "claims.yaml").write_text(yaml.safe_dump(CLAIMS))


def write_tables(results, scale, study):
    for name, text in aggregate.aggregate(study, scale, results, partial=True).items():
        (results / scale / name).write_text(text)


def arguments(results):
    places = {"--envs": "envs.yaml", "--claims": "claims.yaml", "--results": ""}
    return [text for option, name in places.items() for text in (option, str(results / name))]


@pytest.fixture
def results(tmp_path):
    write_study(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """For tests that only read."""
    results = tmp_path_factory.mktemp("results")
    write_study(results)
    assert main(arguments(results)) == 0
    return results


def test_one_row_per_universe_policy_and_set(made):
    table = pd.read_csv(made / "multiverse" / "universes.csv")
    assert table.groupby(["environment", "policy"]).size().to_dict() == {
        (LAKE, "deterministic"): 4,
        (LAKE, "sampled"): 4,
        (CAR, "deterministic"): 8,
        (CAR, "sampled"): 8,
    }
    first = table.iloc[0]
    assert (first["setting.step_size"], first["setting.restart"]) == (0.1, "no")
    assert (first["runs"], first["arrived"], first["median"]) == (3, 3, 100)
    assert (first["best_baseline"], first["best_baseline_median"]) == ("dqn", 5000)
    assert (first["claim.lake"], first["claim.both"]) == ("reproduced", "reproduced")
    assert pd.isna(first["median_low"])  # three seeds have no interval
    never = table[(table["environment"] == LAKE) & (table["setting.step_size"] == 1)]
    assert never["median"].isna().all()
    assert set(never["claim.lake"].dropna()) == {"not reproduced"}


def test_shares_are_those_counted_by_hand(made):
    """Lake: small steps, 2 of 4. Car: Gaussian, 4 of 8. Both at once: 2 of 8."""
    shares = {(each.id, each.environment): each for each in read(made)}
    assert {key: str(each) for key, each in shares.items() if each.holds} == {
        ("lake", LAKE): "2 of 4",
        ("both", LAKE): "2 of 4",
        ("both", CAR): "4 of 8",
        ("both", "all"): "2 of 8",
    }
    share = shares["lake", LAKE]
    assert (share.share, share.decides, share.better) == (0.5, "step_size", "0.1")
    assert (share.share_better, share.share_worse) == (1, 0)
    joint = shares["both", "all"]
    assert (joint.decides, joint.better) == ("step_size or kernel", "0.1 or Gaussian")
    assert (joint.share_better, joint.share_worse) == (0.5, 0)
    nowhere = shares["both-sampled", "all"]
    assert (nowhere.tested, nowhere.decides, nowhere.policy) == (8, "none", "sampled")
    assert read(made / "elsewhere") == []


def test_a_claim_beyond_the_paper_holds_where_it_is_shown():
    question = Question({"id": "beyond"}, "", SimpleNamespace(policy="sampled"))
    settings = [{"step_size": "0.1"}, {"step_size": "1"}, {"step_size": "1"}]
    share = count(question, "E", settings, ["shown", "not shown", "partly shown"])
    assert (share.holds, share.tested, share.decides) == (1, 3, "step_size")


def test_the_page_answers_first(made):
    page = (made / "multiverse" / "multiverse.md").read_text()
    answer = page.splitlines()[2]
    counted = "of 3 claims of the paper, 0 hold in every universe, 2 in some and 1 in none."
    assert answer.startswith(f"Library defaults: {counted}")
    assert "| On lake. | FrozenLake-v1 | 2 of 4; step_size: 0.1 (100% against 0%) |" in page
    assert "4 on FrozenLake-v1 (3 seeds, 1,000 timesteps); 8 on MountainCar-v0" in page


def test_missing_runs_are_counted(results):
    command = arguments(results)
    paths = sorted(results.glob(f"multiverse/{LAKE}/powr/*.csv"))
    for path in paths[:2] + paths[4:8]:  # seeds 0 of two universes, and seed 1 of all
        path.unlink()
    write_tables(results, "multiverse", study_of({**RAW, "multiverse": MULTIVERSE}))
    assert main(command) == 0
    assert (
        "Preliminary: made of 30 of 36 runs." in (results / "multiverse/multiverse.md").read_text()
    )
    shares = {(each.id, each.environment): each for each in read(results)}
    assert str(shares["lake", LAKE]) == "not tested"
    assert shares["both", "all"].holds == 0


def drawn(made):
    table = pd.read_csv(made / "multiverse" / "universes.csv")
    return table, figure.draw(table)


def test_the_figure_shows_each_universe_once_per_policy_and_sorts_them(made):
    _, shown = drawn(made)
    curve, car, settings, _ = shown.axes
    marks = [line for line in curve.lines if line.get_label() == "deterministic"]
    solid = [line.get_xdata()[0] for line in marks if line.get_markerfacecolor() != "white"]
    hollow = [line for line in marks if line.get_markerfacecolor() == "white"]
    assert [round(place) for place in sorted(solid)] == [0, 1]  # the early ones come first
    never = dict(
        zip([t.get_text() for t in curve.get_yticklabels()], curve.get_yticks(), strict=True)
    )
    assert {line.get_ydata()[0] for line in hollow} == {never["never"]}
    labels = [label.get_text() for label in settings.get_yticklabels()]
    assert labels[:4] == ["step size 0.1", "step size 1", "sum over epochs", "restart each epoch"]
    small_steps = settings.lines[0]
    assert list(small_steps.get_xdata()) == [0, 1]
    assert car.get_title() == "MountainCar-v0\nthreshold −110, 3 seeds"


def test_the_figure_names_the_best_baseline_and_counts_missing_runs(made):
    table, shown = drawn(made)
    assert [text.get_text() for text in shown.axes[0].texts] == [
        "DQN, library defaults",
        "no baseline, authors' settings",
    ]
    assert "are missing" not in shown.get_supxlabel()
    table.loc[table["universe"] == table["universe"].iloc[0], "runs"] = 1
    assert "2 of 36 runs are missing." in figure.note(table)
