"""The report of a replication: complete, self-contained, and safe against what it shows."""

import base64
import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, unquote

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from selectolax.lexbor import LexborHTMLParser
from suite.claims.verdicts import THEORY_VERDICTS, VERDICTS

from suite import config
from suite.claims import deviations, ledger
from suite.claims.page import Group, group_of
from suite.plots.style import KNOWN, SPARE
from suite.report import evidence, explorer, report
from suite.results import aggregate
from tests.support import replication
from tests.support.replication import ROOT

LOADING = "link, iframe, frame, object, embed, base, source, video, audio, script[src]"


class Page:
    """The page as a browser without scripts would see it."""

    def __init__(self, path: Path) -> None:
        self.source = path.read_text(encoding="utf-8")
        self.tree = LexborHTMLParser(self.source)

    def section(self, name):
        (element,) = self.tree.css(f"[id='{name}']")
        return element

    @property
    def explorer(self):
        return json.loads(self.section("explorer-data").text())


def text_of(element):
    return " ".join(element.text(separator=" ").split())


def classes_of(element):
    return (element.attributes.get("class") or "").split()


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """All runs of the quick scale are there."""
    results = tmp_path_factory.mktemp("complete")
    replication.write_replication(results, "quick")
    replication.make_tables_and_figures(results, "quick")
    replication.make_report(results, "quick")
    return results


@pytest.fixture
def page(complete):
    return Page(complete / "quick" / "report.html")


@pytest.fixture
def copied(complete, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(complete, tmp_path / "results")


@pytest.fixture(scope="module")
def document():
    return ledger.load(ROOT / "claims.yaml")


class TestVerdicts:
    def test_every_claim_stands_with_its_verdicts(self, page, document, complete):
        table = pd.read_csv(complete / "quick" / "claims.csv")
        verdicts = table.drop_duplicates(["id", "against"]).groupby("id")["verdict"].apply(list)
        assert len(page.tree.css("details")) == len(document["claims"])
        for claim in document["claims"]:
            line = page.section(claim["id"])
            badges = line.css("summary .badge")
            assert [text_of(badge).split(" ", 1)[1] for badge in badges] == verdicts[claim["id"]]
            for badge, verdict in zip(badges, verdicts[claim["id"]], strict=True):
                assert verdict.replace(" ", "-") in classes_of(badge)
            assert claim["claim"] in text_of(line.css_first("summary"))
            assert claim.get("quote", "") in text_of(line)
            assert document["rules"][claim["rule"]]["decision"] in text_of(line)

    def test_are_counted_by_sentence_for_each_set_and_for_theory(self, page, document):
        quoting = [claim for claim in document["claims"] if "quote" in claim]
        experiments, described, theory = (
            len({claim["quote"] for claim in quoting if group_of(claim) == group})
            for group in (Group.EXPERIMENTS, Group.DESCRIBED, Group.THEORY)
        )
        due = [*[experiments] * len(document["sets"]), described, theory]
        boxes = page.tree.css("ul.counts")
        known = [*[VERDICTS] * (len(document["sets"]) + 1), THEORY_VERDICTS]
        for box, sentences, verdicts in zip(boxes, due, known, strict=True):
            items = [text_of(item).split(" ", 2) for item in box.css("li")]
            assert {verdict for _, _, verdict in items} <= set(verdicts)
            assert sum(int(number) for number, *_ in items) == sentences

    def test_show_numbers_deviations_and_runs(self, page):
        line = text_of(page.section("earlier-taxi"))
        assert "Taxi-v3: POWR against DQN" in line
        assert "settings-of-the-june-code" in line
        assert "3 of TRPO on Taxi-v3" in line
        reason = "trained for fewer timesteps than the claim is about"
        assert reason in text_of(page.section("taxi-eight"))

    def test_every_deviation_stands_with_the_claims_it_touches(self, page, document):
        entries = deviations.load(ROOT / "deviations.yaml", document)["deviations"]
        for entry in entries:
            assert entry["effect"] in text_of(page.section(f"deviation-{entry['id']}"))
            for claim in entry["touches"]:
                assert f"{entry['id']} : {entry['what']}" in text_of(page.section(claim))


class TestSelfContained:
    def test_the_figures_are_in_the_file(self, page, complete):
        images = page.tree.css("img")
        for image, name in zip(images, report.EXPLORED, strict=True):
            kind, _, content = image.attributes["src"].partition(";base64,")
            assert kind == "data:image/svg+xml"
            drawn = (complete / "quick" / f"{name}.svg").read_bytes()
            assert base64.b64decode(content) == drawn
            assert report.FIGURES[name] in image.attributes["alt"]

    def test_nothing_is_loaded(self, page):
        assert not page.tree.css(LOADING)
        for element in page.tree.css("*"):
            assert element.attributes.get("src", "data:").startswith("data:")
            assert not [name for name in element.attributes if name.startswith("on")]
        (style,) = page.tree.css("style")
        assert not re.search(r"url\(|@import|https?:", style.text())

    def test_only_its_own_script_may_run(self, page):
        _, script = page.tree.css("script")
        policy = page.tree.css_first("meta[http-equiv]").attributes["content"]
        assert "default-src 'none'" in policy
        assert f"script-src '{report.integrity(script.text())}'" in policy

    def test_links_lead_somewhere(self, page, complete):
        given = [element.attributes["id"] for element in page.tree.css("[id]")]
        names = set(given)
        assert len(given) == len(names)
        links = [element.attributes["href"] for element in page.tree.css("a")]
        assert any(link.endswith(".json") for link in links)
        views = [parse_qs(link[1:]) for link in links if "=" in link]
        assert any(view["threshold"] == ["Taxi-v3:6"] for view in views)
        assert {view["open"][0] for view in views} <= names
        for link in links:
            if "=" in link:
                continue
            if link.startswith("#"):
                assert link[1:] in names
            else:
                assert (complete / "quick" / unquote(link)).is_file()

    def test_is_the_same_when_made_again(self, copied, complete):
        page = replication.make_report(copied, "quick")
        assert page.read_bytes() == (complete / "quick" / "report.html").read_bytes()


class TestExplorerData:
    def test_has_every_run_as_its_file_has_it(self, page, complete):
        seen = 0
        for environment in page.explorer["environments"]:
            for group in environment["groups"]:
                for run in group["runs"]:
                    table = pd.read_csv(complete / "quick" / run["file"])
                    assert group["timesteps"] == table["timestep"].tolist()
                    assert run["deterministic"] == table["mean"].tolist()
                    sampled = table["sampled_mean"].tolist()
                    assert run["sampled"] == (None if pd.isna(sampled[0]) else sampled)
                    seen += 1
        assert seen == len(list((complete / "quick").glob("*/*/seed*.csv"))) > 45

    def test_shows_the_algorithms_of_the_paper_first(self, page, real_study):
        algorithms, kinds = page.explorer["algorithms"], page.explorer["kinds"]
        runs = real_study.scales["quick"].runs()
        assert {each["key"] for each in algorithms} == {run.algorithm for run in runs}
        for each in algorithms:
            assert kinds[each["kind"]] == real_study.algorithms[each["key"]].kind
        shown = [each["key"] for each in algorithms if each["shown"]]
        assert shown == [each["key"] for each in algorithms[:5]]
        assert shown == ["powr", "a2c", "dqn", "ppo", "trpo"]

    @pytest.mark.parametrize(("paper", "least"), [("light", 3), ("dark", 5)])
    def test_every_colour_stands_out(self, paper, least):
        behind = {"light": "#ffffff", "dark": "#0f1318"}[paper]  # as in report.css
        for look in (*KNOWN.values(), *SPARE):
            shown = explorer.CLEARER[paper].get(look.colour, look.colour)
            low, high = sorted(map(luminance, (shown, behind)))
            assert (high + 0.05) / (low + 0.05) >= least

    def test_the_shipped_page_is_small(self):
        assert (ROOT / "results/paper/report.html").stat().st_size <= 3_500_000


def luminance(colour):
    """Relative luminance of WCAG 2."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


class TestContent:
    def test_tables_cost_and_provenance(self, page, real_study):
        cost = text_of(page.section("cost"))
        for name in replication.RETURNS:
            assert f"{name} algorithm threshold" in text_of(page.section("tables"))
            assert f"{name} algorithm timesteps per second" in cost
        assert "POWR 250 " in cost
        provenance = text_of(page.section("provenance"))
        assert f"{len(real_study.scales['quick'].runs())} runs of commit 0123456789ab" in provenance
        assert "numpy 2.4.6" in provenance

    def test_a_scale_other_than_the_papers_is_preliminary(self, page):
        (notice,) = page.tree.css("p.notice")
        assert text_of(notice).startswith("Preliminary. These are results at the scale quick")
        assert "missing" not in text_of(notice)
        assert "preliminary" in text_of(page.section("earlier-taxi"))
        assert "preliminary" not in text_of(page.section("closed-form"))


def test_missing_runs_are_labelled(copied, real_study):
    for path in (copied / "quick" / "MountainCar-v0" / "ppo").glob("seed*"):
        path.unlink()
    next((copied / "quick" / "Taxi-v3" / "dqn").glob("seed1-*.csv")).unlink()
    replication.make_tables_and_figures(copied, "quick")
    page = Page(replication.make_report(copied, "quick"))
    text = text_of(page.tree.body)
    assert f"4 of {len(real_study.scales['quick'].runs())} runs are missing" in text
    assert text_of(page.section("runs")).count("missing") == 4
    assert "PPO no run" in text_of(page.section("cost"))
    reason = "3 of 3 runs of PPO on MountainCar-v0 are missing"
    assert reason in text_of(page.section("earlier-mountaincar"))
    assert [] in [g["runs"] for e in page.explorer["environments"] for g in e["groups"]]


class TestHostileText:
    ATTACK = '"><script>alert(1)</script><img src=http://example.org/x onerror=alert(1)>'

    def test_stays_text(self, copied, tmp_path):
        text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
        text, times = re.subn(
            r"(?m)^    quote: the iterates.*$", f"    quote: '{self.ATTACK}'", text
        )
        assert times == 1
        (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
        path = next((copied / "quick" / "Taxi-v3" / "dqn").glob("seed1-*.json"))
        metadata = json.loads(path.read_text())
        metadata["provenance"]["cpu"] = self.ATTACK
        metadata["provenance"]["packages"] = {self.ATTACK: self.ATTACK}
        path.write_text(json.dumps(metadata))
        study = ["--envs", str(ROOT / "envs.yaml"), "--results", str(copied)]
        assert aggregate.main(["--scale", "quick", *study]) == 0
        page = Page(replication.make_report(copied, "quick", tmp_path / "claims.yaml"))
        TestSelfContained().test_nothing_is_loaded(page)
        assert self.ATTACK in text_of(page.section("convergence-rate"))
        assert self.ATTACK in text_of(page.section("provenance"))

    def test_addresses_are_quoted_and_agents_offered_where_the_run_saved_one(self):
        runs = [config.Run("quick", 'a"b c#d', "powr", seed, "0" * 12) for seed in range(3)]
        (group,) = evidence.group_runs(runs, {runs[0]: False, runs[1]: True})
        address = f"a%22b%20c%23d/powr/seed{{}}-{'0' * 12}"
        assert group.files == [
            (0, address.format(0), ["csv", "json"]),
            (1, address.format(1), ["csv", "json", "npz"]),
            (2, address.format(2), []),
        ]


def options(results):
    files = {name: str(ROOT / f"{name}.yaml") for name in ("envs", "claims", "deviations")}
    pairs = {"scale": "quick", "results": str(results), **files}
    return [part for name, value in pairs.items() for part in (f"--{name}", value)]


def test_a_table_of_other_claims_is_refused(copied, capsys):
    path = copied / "quick" / "claims.csv"
    path.write_text(path.read_text().replace("earlier-taxi,", "earlier-bus,"))
    assert report.main(options(copied)) == 1
    assert "claims.csv: judges other claims than claims.yaml" in capsys.readouterr().err


def test_a_missing_file_is_named(copied, capsys):
    (copied / "quick" / "cost.csv").unlink()
    assert report.main(options(copied)) == 1
    message = capsys.readouterr().err
    assert message.startswith("python -m suite report: ")
    assert "cost.csv" in message


def test_a_generated_page_is_shown_as_paragraphs_and_tables(tmp_path):
    path = tmp_path / "page.md"
    assert report.show_markdown(path) == []
    path.write_text("# Head\n\nOne `word`\nmore.\n\n| a | b |\n| --- | --- |\n| 1 |  |\n")
    assert report.show_markdown(path) == ["One word more.", [["a", "b"], ["1", ""]]]
