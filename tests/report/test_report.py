"""The report of a replication: complete, self-contained, and safe against what it shows."""

import base64
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

from suite import config
from suite.claims import deviations, ledger
from suite.claims.verdicts import VERDICTS
from suite.report import report
from tests.support import replication
from tests.support.replication import ROOT

VOID = {"meta", "img", "br", "link", "input", "base", "source", "embed"}
LOADING = {
    "script",
    "link",
    "iframe",
    "frame",
    "object",
    "embed",
    "base",
    "source",
    "video",
    "audio",
}


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, attributes, []

    def walk(self):
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    @property
    def text(self):
        parts = [c.text if isinstance(c, Element) else c for c in self.children]
        return " ".join(" ".join(parts).split())

    @property
    def classes(self):
        return (self.attributes.get("class") or "").split()


class Page(HTMLParser):
    """The page as a browser without scripts would see it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.root = Element("root", {})
        self.open = [self.root]
        self.feed(self.source)
        assert self.open == [self.root], "an element is not closed"

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)

    def find(self, tag=None, **attributes):
        return [
            element
            for element in self.root.walk()
            if tag in (None, element.tag)
            and all(element.attributes.get(key) == value for key, value in attributes.items())
        ]

    def section(self, name):
        (element,) = self.find(id=name)
        return element


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
    def test_every_claim_stands_with_its_verdict(self, page, document, complete):
        table = pd.read_csv(complete / "quick" / "claims.csv").drop_duplicates("id")
        verdicts = table.set_index("id")["verdict"]
        assert len(page.find("details")) == len(document["claims"])
        for claim in document["claims"]:
            line = page.section(claim["id"])
            summary = next(element for element in line.walk() if element.tag == "summary")
            badge = next(element for element in summary.walk() if "badge" in element.classes)
            assert badge.text.endswith(verdicts[claim["id"]])
            assert verdicts[claim["id"]].replace(" ", "-") in badge.classes
            assert claim["claim"] in summary.text
            assert claim.get("quote", "") in line.text
            assert document["rules"][claim["rule"]]["decision"] in line.text

    def test_come_before_everything_else(self, page):
        sections = [element.attributes.get("id") for element in page.find("section")]
        assert sections[:2] == ["verdicts", "figures"]

    def test_are_counted_by_sentence(self, page, document):
        sentences = {claim["quote"] for claim in document["claims"] if "quote" in claim}
        (box,) = [element for element in page.find("ul") if "counts" in element.classes]
        items = [element.text for element in box.walk() if element.tag == "li"]
        assert [text.split(" ", 2)[2] for text in items] == list(VERDICTS)
        assert sum(int(text.split()[0]) for text in items) == len(sentences)

    def test_say_why_they_were_not_given(self, page):
        line = page.section("taxi-eight")
        assert "trained for fewer timesteps than the claim is about" in line.text

    def test_show_numbers_deviations_and_runs(self, page):
        line = page.section("earlier-taxi")
        assert "Taxi-v3: POWR against DQN" in line.text
        assert "powr-without-settings" in line.text
        assert "3 of TRPO on Taxi-v3" in line.text

    def test_follow_the_table(self, copied):
        path = copied / "quick" / "claims.csv"
        table = pd.read_csv(path)
        table.loc[table["id"] == "earlier-taxi", "verdict"] = "not reproduced"
        table.to_csv(path, index=False)
        page = Page(replication.make_report(copied, "quick"))
        assert "not-reproduced" in page.section("earlier-taxi").classes

    def test_every_deviation_stands_with_the_claims_it_touches(self, page, document):
        entries = deviations.load(ROOT / "deviations.yaml", document)["deviations"]
        for entry in entries:
            assert entry["effect"] in page.section(f"deviation-{entry['id']}").text
            for claim in entry["touches"]:
                assert f"{entry['id']} : {entry['what']}" in page.section(claim).text


class TestSelfContained:
    def test_both_figures_are_in_the_file(self, page, complete):
        images = page.find("img")
        for image, name in zip(images, ("training_curves", "threshold_boxplots"), strict=True):
            kind, _, content = image.attributes["src"].partition(";base64,")
            assert kind == "data:image/svg+xml"
            drawn = (complete / "quick" / f"{name}.svg").read_bytes()
            assert base64.b64decode(content) == drawn
            assert "Taxi-v3, return 6: POWR 2,512" in image.attributes["alt"]

    def test_nothing_is_loaded(self, page):
        assert not {element.tag for element in page.root.walk()} & LOADING
        for element in page.root.walk():
            assert element.attributes.get("src", "data:").startswith("data:")
            assert not [name for name in element.attributes if name.startswith("on")]
        (style,) = page.find("style")
        assert not re.search(r"url\(|@import|https?:", style.text)

    def test_links_lead_somewhere(self, page, complete):
        names = {element.attributes.get("id") for element in page.root.walk()}
        links = [element.attributes["href"] for element in page.find("a")]
        assert any(link.endswith(".json") for link in links)
        for link in links:
            if link.startswith("#"):
                assert link[1:] in names
            else:
                assert (complete / "quick" / unquote(link)).is_file()

    def test_ids_are_given_once(self, page):
        names = [e.attributes["id"] for e in page.root.walk() if "id" in e.attributes]
        assert len(names) == len(set(names))

    def test_is_the_same_when_made_again(self, copied, complete):
        page = replication.make_report(copied, "quick")
        assert page.read_bytes() == (complete / "quick" / "report.html").read_bytes()


class TestContent:
    def test_tables_and_cost_of_every_environment(self, page):
        for name in replication.RETURNS:
            assert f"{name} algorithm threshold" in page.section("tables").text
            assert f"{name} algorithm timesteps per second" in page.section("cost").text
        assert "POWR 250 " in page.section("cost").text
        assert "run JSON" in page.section("cost").text

    def test_provenance(self, page):
        text = page.section("provenance").text
        assert "45 runs of commit 0123456789ab" in text
        assert "numpy 2.4.6" in text

    def test_a_scale_other_than_the_papers_is_preliminary(self, page):
        (notice,) = [element for element in page.find("p") if "notice" in element.classes]
        assert notice.text.startswith("Preliminary. These are results at the scale quick")
        assert "missing" not in notice.text
        assert "preliminary" in page.section("earlier-taxi").text
        assert "preliminary" not in page.section("closed-form").text


class TestMissingRuns:
    @pytest.fixture
    def page(self, copied):
        for seed in range(3):
            for path in (copied / "quick" / "MountainCar-v0" / "ppo").glob(f"seed{seed}-*"):
                path.unlink()
        next((copied / "quick" / "Taxi-v3" / "dqn").glob("seed1-*.csv")).unlink()
        replication.make_tables_and_figures(copied, "quick")
        return Page(replication.make_report(copied, "quick"))

    def test_are_labelled(self, page):
        assert "4 of 45 runs are missing" in page.root.text
        assert page.section("runs").text.count("missing") == 4
        assert "PPO no run" in page.section("cost").text
        assert "no run of PPO" in page.root.text
        reason = "3 of 3 runs of PPO on MountainCar-v0 are missing"
        assert reason in page.section("earlier-mountaincar").text


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
        page = Page(replication.make_report(copied, "quick", tmp_path / "claims.yaml"))
        TestSelfContained().test_nothing_is_loaded(page)
        assert self.ATTACK in page.section("convergence-rate").text
        assert self.ATTACK in page.section("provenance").text

    def test_an_agent_is_offered_where_the_run_saved_one(self):
        runs = [config.Run("quick", "Taxi-v3", "powr", seed, "0" * 12) for seed in range(3)]
        (group,) = report.group_runs(runs, {runs[0]: {}, runs[1]: {"agent_sha256": "1" * 64}})
        assert [suffixes for *_, suffixes in group.files] == [
            ["csv", "json"],
            ["csv", "json", "npz"],
            [],
        ]

    def test_addresses_are_quoted(self):
        run = config.Run("quick", 'a"b c#d', "powr", 0, "0" * 12)
        (group,) = report.group_runs([run], {run: {}})
        assert group.files == [(0, f"a%22b%20c%23d/powr/seed0-{'0' * 12}", ["csv", "json"])]


class TestFaults:
    COUNTED = "counts 2 runs of DQN on Taxi-v3, 3 are there"

    def options(self, results):
        files = {name: str(ROOT / f"{name}.yaml") for name in ("envs", "claims", "deviations")}
        pairs = {"scale": "quick", "results": str(results), **files}
        return [part for name, value in pairs.items() for part in (f"--{name}", value)]

    def test_verdicts_on_other_claims_are_refused(self, copied, capsys):
        path = copied / "quick" / "claims.csv"
        path.write_text(path.read_text().replace("earlier-taxi,", "earlier-bus,"))
        assert report.main(self.options(copied)) == 1
        assert "judges other claims than claims.yaml" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("name", "old", "new", "fault"),
        [
            ("summary.csv", "Taxi-v3,dqn,deterministic,3", "Taxi-v3,dqn,deterministic,2", COUNTED),
            ("cost.csv", "Taxi-v3,dqn,3", "Taxi-v3,dqn,2", COUNTED),
            ("claims.csv", r"\S*/Taxi-v3/dqn/seed1-\S*", "", "rests on 14 runs, 15 are there"),
        ],
    )
    def test_a_table_of_other_runs_is_refused(self, copied, capsys, name, old, new, fault):
        path = copied / "quick" / name
        path.write_text(re.sub(old, new, path.read_text()))
        assert report.main(self.options(copied)) == 1
        message = capsys.readouterr().err
        assert f"{fault}. It was made from other runs than those in the folder" in message
        assert str(path) in message
        assert "scale=quick partial=true --forcerun aggregate claims cost" in message

    @pytest.mark.parametrize("name", ["cost.csv", "training_curves.svg"])
    def test_a_missing_file_is_named(self, copied, capsys, name):
        (copied / "quick" / name).unlink()
        assert report.main(self.options(copied)) == 1
        message = capsys.readouterr().err
        assert message.startswith("suite.report.report: ")
        assert name in message


class TestPreliminary:
    def reasons(self, scale, missing):
        return report.preliminary_reasons(scale, "paper", 3, missing, 105)

    def test_complete_paper_scale_is_final(self):
        assert self.reasons("paper", 0) == []

    def test_missing_runs_of_the_paper_scale(self):
        (reason,) = self.reasons("paper", 5)
        assert reason.startswith("5 of 105 runs are missing")

    def test_other_scale(self):
        (reason,) = self.reasons("quick", 0)
        assert "scale quick, with 3 seeds" in reason


def test_headline_counts_sentences_of_the_paper():
    def entry(verdict, quote):
        return ledger.Judged({"quote": quote}, ledger.Outcome(verdict), False, [])

    judged = [entry("reproduced", "a"), entry("not reproduced", "a"), entry("reproduced", "b")]
    expected = (
        "Of 2 sentences of the paper, 1 reproduced, 1 partly, 0 not reproduced, 0 not tested."
    )
    assert report.headline(judged, {}, preliminary=False) == expected
    assert report.headline(judged, {}, preliminary=True) == f"Preliminary. {expected}"
