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
from selectolax.lexbor import LexborHTMLParser

from suite import config
from suite.claims import document as documents
from suite.claims.page import SHOWN, of_case
from suite.report import cards, report
from suite.results.tables import read_table
from tests.support import replication
from tests.support.replication import FIGURES, ROOT

LOADING = "link, iframe, frame, object, embed, base, source, video, audio, script[src]"
SHIPPED = ROOT / "results/paper"


class Page:
    """The page as a browser without scripts would see it."""

    def __init__(self, path: Path) -> None:
        self.tree = LexborHTMLParser(path.read_text(encoding="utf-8"))

    def section(self, name):
        (element,) = self.tree.css(f"[id='{name}']")
        return element

    @property
    def explorer(self):
        return json.loads(self.section("explorer-data").text())


def text_of(element):
    return " ".join(element.text(separator=" ").split())


@pytest.fixture(scope="module")
def page(results):
    return Page(results / "quick" / "report.html")


@pytest.fixture
def copied(results, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(results, tmp_path / "results")


@pytest.fixture(scope="module")
def document():
    return documents.load(ROOT / "claims.yaml")


class TestCards:
    def test_every_sentence_has_one_with_its_quote_and_its_verdicts(self, page, document, results):
        found = pd.read_csv(results / "quick/sentences.csv")
        verdicts = found.set_index(["sentence", "protocol", "settings"])["verdict"]
        assert len(page.tree.css(".card")) == len(document.sentences) == 8
        for name, sentence in document.sentences.items():
            card = page.section(name)
            quote = text_of(card.css_first("blockquote"))
            assert quote == f"“{' '.join(sentence.quote.split())}” {sentence.place}"
            words = [text_of(badge).split(" ", 1)[1] for badge in card.css(".badge")]
            for word, case in zip(words, SHOWN, strict=True):
                verdict = verdicts[(name, *case)]
                in_part = verdict.startswith("holds on")
                assert word in ("in part" if in_part else verdict, cards.NOT_RUN)

    def test_missing_runs_are_said(self, page):
        fixed = page.section("taxi-eight").css(".badge")[-1]
        assert text_of(fixed) == "– not run"
        (detail, *_) = page.section("quicker").css(".marks small")
        assert "not run on MountainCar-v0" in text_of(detail)
        assert "no run of PPO" in text_of(page.section("quicker"))
        notices = [text_of(each) for each in page.tree.css(".notice")]
        assert "3 seeds" in notices[0]
        assert notices[1].startswith("3 of ")
        assert "do not suffice" in text_of(page.tree.css_first(".answer"))

    def test_has_every_cell(self, page, document, results):
        table = pd.read_csv(results / "quick/cells.csv")
        for name in document.sentences:
            own = table[table["sentence"] == name]
            rows = [row for row in page.section(name).css("tr") if len(row.css("td")) == 3]
            shown = {tuple(text_of(cell) for cell in row.css("td"))[:1] for row in rows}
            assert len(rows) == len(own)
            assert shown == {(f"{c.environment} at {c.threshold:g}",) for c in own.itertuples()}
            texts = text_of(page.section(name))
            assert all(effect in texts for effect in own["effect"].dropna())

    def test_charts_have_what_comparisons_have(self, document):
        """On the shipped tables: each comparison of the shown cases is one mark."""
        names = ("cells", "comparisons", "sentences")
        tables = {name: read_table(SHIPPED / f"{name}.csv") for name in names}
        macros = report.templates().get_template("chart.svg.j2").module
        for card in cards.describe(document, tables):
            rows = pd.concat(of_case(tables["comparisons"], case) for case in SHOWN)
            rows = rows[rows["sentence"] == card["id"]]
            chart = LexborHTMLParser(macros.chart(**card["chart"]))
            if rows["statistic"].iloc[0].startswith("share of runs"):
                widths = [float(each.attributes["width"]) for each in chart.css("rect.full")]
                whole = float(chart.css_first("rect.frame").attributes["width"])
                assert sorted(widths) == pytest.approx(sorted(whole * rows["value"]), abs=0.06)
            elif rows["statistic"].iloc[0] == "difference of returns":
                counts = [list(map(int, text_of(e).split(" / "))) for e in chart.css(".value")]
                sums = np.sum(counts, axis=0)
                significant = [(rows[p] <= document.level).sum() for p in ("p_for", "p_against")]
                assert [sums[0], sums[2], sums.sum()] == [*significant, len(rows)]
            else:
                marks = [text_of(e) for e in chart.css(".dot title")]
                due = [f"{r.subject}: {cards.number(r.value)}" for r in rows.itertuples()]
                assert sorted(marks) == sorted(due)
                assert len(chart.css("polygon")) == rows["bound"].notna().sum()


class TestSelfContained:
    def test_the_figures_are_in_the_file(self, page, results):
        for name in FIGURES:
            source = page.section(f"figure-{name}").attributes["src"]
            kind, _, content = source.partition(";base64,")
            assert kind == "data:image/svg+xml"
            assert base64.b64decode(content) == (results / "quick" / f"{name}.svg").read_bytes()

    def test_nothing_is_loaded(self, page):
        assert not page.tree.css(LOADING)
        for element in page.tree.css("*"):
            assert (element.attributes.get("src") or "data:").startswith("data:")
            assert not [name for name in element.attributes if name.startswith("on")]
        (style,) = page.tree.css("style")
        assert not re.search(r"url\(|@import|https?:", style.text())

    def test_only_its_own_script_may_run(self, page):
        _, script = page.tree.css("script")
        policy = page.tree.css_first("meta[http-equiv]").attributes["content"]
        assert "default-src 'none'" in policy
        assert f"script-src '{report.integrity(script.text())}'" in policy

    def test_links_lead_somewhere(self, page, results):
        given = [element.attributes["id"] for element in page.tree.css("[id]")]
        assert len(given) == len(set(given))
        links = [element.attributes["href"] for element in page.tree.css("a")]
        views = [parse_qs(link[1:]) for link in links if "=" in link]
        assert {"threshold": ["Taxi-v3:8"]} in views
        for link in links:
            if link.startswith("#") and "=" not in link:
                assert link[1:] in given
            elif "=" not in link:
                assert (results / "quick" / unquote(link)).is_file()


class TestExplorerData:
    def test_has_every_run_and_every_mean_as_its_file_has_it(self, page, results):
        curves = pd.read_csv(results / "quick/curves.csv")
        by_line = dict(list(curves.groupby(["environment", "algorithm", "policy"])))
        seen = 0
        for environment in page.explorer["environments"]:
            for group in environment["random"]:
                for policy, (mean, column) in report.RECORDED.items():
                    if policy not in group["policies"]:
                        continue
                    line = by_line[environment["name"], group["algorithm"], mean]
                    assert group["timesteps"] == line["timestep"].tolist()
                    assert group["policies"][policy]["mean"] == line["mean"].tolist()
                    for run in group["runs"]:
                        table = pd.read_csv(results / "quick" / run["file"])
                        assert run[policy] == table[column].tolist()
                        seen += policy == "greedy"
        assert seen == len(list((results / "quick").glob("*/*/seed*.csv"))) > 45

    def test_fixed_starts_are_those_of_the_same_environment_if_it_has_one_start(self, page):
        lake, taxi, _ = page.explorer["environments"]
        assert lake["fixed"] == lake["random"]
        assert taxi["fixed"] == []


def test_everything_else_is_there_and_closed(page, document, real_study):
    closed = page.tree.css("details")
    assert not [each for each in closed if "open" in each.attributes]
    for theorem in document.theory:
        assert text_of(page.section(theorem.id).css_first("h3")).endswith(theorem.claim)
    for entry in documents.load_deviations(ROOT / "deviations.yaml", document).deviations:
        assert " ".join(entry.effect.split()) in text_of(page.section(f"deviation-{entry.id}"))
    for name in real_study.scale("quick").timesteps:
        assert f"{name}: timesteps to threshold" in text_of(page.section("tables"))
        assert name in text_of(page.section("cost"))
    runs = config.load(ROOT / "envs.yaml").runs("quick")
    assert f"{len(runs) - 3} runs of commit 0123456789ab" in text_of(page.section("provenance"))


class TestHostileText:
    ATTACK = '"><script>alert(1)</script><img src=http://example.org/x onerror=alert(1)>'

    def test_stays_text(self, copied, tmp_path):
        text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
        text, times = re.subn(
            r"(?m)^    quote: Our approach attain.*$", f"    quote: '{self.ATTACK}'", text
        )
        assert times == 1
        (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
        hostile = {"origins": "packages", "cells": "effect", "comparisons": "subject"}
        for name, column in hostile.items():
            path = copied / "quick" / f"{name}.csv"
            table = pd.read_csv(path)
            table.assign(**{column: self.ATTACK}).to_csv(path, index=False)
        page = Page(replication.make_report(copied, "quick", tmp_path / "claims.yaml"))
        TestSelfContained().test_nothing_is_loaded(page)
        assert text_of(page.section("quicker")).count(self.ATTACK) > 2
        assert self.ATTACK in text_of(page.section("provenance"))
