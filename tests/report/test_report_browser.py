"""The report in a real browser, on a laptop, a phone and paper: make report-test."""

import argparse
import shutil

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect, sync_playwright

from suite import config
from suite.report import report
from suite.results import arrivals, statistics
from suite.results.tables import read_results
from suite.training.evaluation import planned_grid
from tests.support import replication
from tests.support.replication import ROOT

pytestmark = pytest.mark.browser

LAPTOP, PHONE = {"width": 1200, "height": 800}, {"width": 400, "height": 844}
SIZES = {"laptop": LAPTOP, "phone": PHONE}
THRESHOLDS = 10
NAMES = ["POWR", "A2C", "DQN", "PPO", "TRPO"]  # what the page shows at first: the paper's figures
# Contrast ratios of WCAG 2 between each text that is seen and what is painted behind it.
CONTRASTS = """
elements => {
  const channels = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => channels(colour).slice(0, 3)
    .map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    const colour = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    return channels(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  return elements.filter(element => element.checkVisibility()).map(element => {
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}
"""
TEXTS = "p, li, small, figcaption, a, summary, th, td, label, button, legend, .badge, .missing"


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.exit(
            "Chromium is not installed: run `apt-get install chromium` (Debian) or "
            "`apt-get install chromium-browser` (Ubuntu)",
            returncode=1,
        )
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The report of a replication in which one run is missing."""
    folder = tmp_path_factory.mktemp("results")
    runs = replication.write_replication(folder, "quick")
    (folder / runs[-1].path).unlink()
    replication.make_tables_and_figures(folder, "quick")
    return replication.make_report(folder, "quick")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The report of the shipped runs."""
    files = {name: ROOT / f"{name}.yaml" for name in ("envs", "claims", "deviations")}
    figures = [ROOT / "figures" / f"{name}.svg" for name in report.EXPLORED]
    options = argparse.Namespace(scale="paper", results=ROOT / "results", figures=figures, **files)
    path = tmp_path_factory.mktemp("paper") / "report.html"
    path.write_text(report.render(report.describe(options)), encoding="utf-8")
    return path


class Visit:
    """A page, and what it complained about and asked for."""

    def __init__(self, context, address):
        self.complaints, self.requests = [], []
        self.page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)


@pytest.fixture
def visit(browser):
    """Opens a page and checks at the end that it had no complaint and loaded nothing else."""
    contexts, visits = [], []

    def open_page(path, hash_="", size=LAPTOP, **options):
        contexts.append(browser.new_context(viewport=size, **options))
        visits.append(Visit(contexts[-1], path.as_uri() + hash_))
        return visits[-1].page

    yield open_page
    for each in visits:
        assert each.complaints == []
        assert not [url for url in each.requests if not url.startswith(("data:", "file:"))]
        assert sum(url.startswith("file:") for url in each.requests) == 1
    for context in contexts:
        context.close()


@pytest.fixture(params=SIZES)
def page(visit, quick, request):
    return visit(quick, size=SIZES[request.param])


class TestReading:
    def test_all_verdicts_are_visible_and_open_on_their_evidence(self, page):
        assert page.evaluate(
            "document.querySelector('.counts').getBoundingClientRect().bottom < innerHeight"
        )
        badges = page.locator("details.claim > summary .badge")
        assert badges.count() > len(ROOT.joinpath("claims.yaml").read_text().split("- id:")) > 10
        assert all(badge.is_visible() for badge in badges.all())
        line = page.locator("#earlier-taxi")
        expect(line.locator("table").first).to_be_hidden()
        line.locator("summary").click()
        expect(line.locator("table").first).to_be_visible()

    def test_only_boxes_scroll_sideways(self, page):
        page.evaluate("document.querySelectorAll('details').forEach(line => { line.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": 1200, "height": 900})
        clipped = page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter((each) => each.offsetParent"
            " && each.scrollWidth > each.clientWidth + 1).map((each) => each.ariaLabel)"
        )
        assert clipped == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out(self, page, scheme):
        page.emulate_media(color_scheme=scheme)
        ratios = page.locator(TEXTS).evaluate_all(CONTRASTS)
        assert len(ratios) > 100
        assert min(ratios) >= 4.5

    def test_paper_has_the_static_figures_and_all_evidence(self, page):
        page.emulate_media(media="print")
        claims = page.locator("details.claim").count()
        assert page.locator(".on-paper .evidence").filter(visible=True).count() == claims
        assert page.locator("figure.explored img").filter(visible=True).count() == 2
        expect(page.locator("nav")).to_be_hidden()
        expect(page.locator("#explorer")).to_be_hidden()
        assert page.pdf().startswith(b"%PDF")

    def test_without_scripts_the_static_figures_stand(self, visit, quick):
        page = visit(quick, java_script_enabled=False)
        images = page.locator("figure img")
        assert images.count() == images.filter(visible=True).count() == 2
        assert all(image.bounding_box()["width"] > 300 for image in images.all())
        expect(page.locator("#explorer")).to_be_hidden()
        expect(page.locator("#theme")).to_be_hidden()
        page.locator("#earlier-taxi summary").click()
        expect(page.locator("#earlier-taxi table").first).to_be_visible()


def threshold(page):
    return float(page.locator("#handle").get_attribute("aria-valuenow"))


def column(page, number):
    return page.locator(f"#outcomes tbody tr > :nth-child({number})").all_inner_texts()


class TestExploring:
    def test_a_drag_moves_the_threshold_and_what_follows_from_it(self, page, real_study):
        expect(page.locator("#boxes canvas")).to_be_visible()
        assert page.locator("figure.explored img").filter(visible=True).count() == 0
        page.get_by_label("Taxi-v3", exact=True).check(force=True)
        assert threshold(page) == 6
        grip = page.locator("#handle span")
        grip.scroll_into_view_if_needed()
        box, chart = grip.bounding_box(), page.locator("#curves .u-over").bounding_box()
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + 10, chart["y"] + chart["height"] / 2, steps=5)
        assert -200 < threshold(page) < 6
        page.mouse.move(box["x"] + 10, chart["y"] + chart["height"] - 2, steps=5)
        page.mouse.up()
        assert threshold(page) == float(page.locator("#threshold").input_value()) == -200
        keys = [name.lower() for name in NAMES]
        settings = [real_study.scales["quick"].combination("Taxi-v3", key).settings for key in keys]
        assert column(page, 4) == [str(planned_grid(each)[0]) for each in settings]
        page.get_by_role("button", name="8", exact=True).click()
        assert threshold(page) == 8
        assert set(column(page, 3)) == {"0 of 3"}
        expect(page.locator("#announcement")).to_contain_text("Threshold 8, first arrival: POWR 0")

    def test_algorithms_and_kinds_are_switched(self, page):
        assert column(page, 1) == NAMES
        page.get_by_role("checkbox", name="DQN", exact=True).uncheck()
        assert column(page, 1) == [name for name in NAMES if name != "DQN"]
        page.get_by_role("checkbox", name="textbook").check()
        for name in ("the paper's POWR", "deep, library defaults"):
            page.get_by_role("checkbox", name=name).uncheck()
        assert "R-max" in column(page, 1)
        assert not set(NAMES) & set(column(page, 1))

    def test_axes_arrival_policy_and_reference_are_switched(self, page):
        assert page.evaluate("explorer.scales()") == [3, 1]  # uPlot's numbers of log and linear
        page.locator("#x-axis").get_by_label("linear").check(force=True)
        page.locator("#y-axis").get_by_label("log").check(force=True)
        assert page.evaluate("explorer.scales()") == [1, 4]
        page.locator("#policies").get_by_label("sampled").check(force=True)
        assert column(page, 1)[:2] == ["POWR", "A2C (deterministic)"]
        page.get_by_label("Algorithm that the others").select_option("dqn")
        assert [not cell for cell in column(page, 7)] == [name == "DQN" for name in NAMES]
        assert "DQN earlier in" in page.locator("#outcomes thead").inner_text()

    @pytest.mark.parametrize("chart", ["curves", "boxes"])
    def test_a_chart_and_its_data_are_downloaded(self, page, real_study, tmp_path, chart):
        saved = {}
        for kind in ("png", "csv"):
            with page.expect_download() as started:
                page.locator(f"button[data-chart={chart}][data-as={kind}]").click()
            saved[kind] = tmp_path / started.value.suggested_filename
            started.value.save_as(saved[kind])
        assert saved["png"].read_bytes().startswith(b"\x89PNG")
        table = pd.read_csv(saved["csv"])
        assert set(table["environment"]) == {"FrozenLake-v1"}
        assert [name.upper() for name in dict.fromkeys(table["algorithm"])] == NAMES
        first = table[(table["algorithm"] == "powr") & (table["seed"] == 0)]
        settings = real_study.scales["quick"].combination("FrozenLake-v1", "powr").settings
        assert len(first) == (len(planned_grid(settings)) if chart == "curves" else 1)

    def test_a_figure_is_downloaded_as_it_was_drawn(self, page, quick, tmp_path):
        with page.expect_download() as started:
            page.locator("button[data-figure=training_curves]").click()
        started.value.save_as(tmp_path / "figure.svg")
        drawn = quick.with_name("training_curves.svg").read_bytes()
        assert (tmp_path / "figure.svg").read_bytes() == drawn

    def test_seeds_are_shown_on_hover(self, page):
        chart = page.locator("#curves .u-over")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] - 40, box["y"] + 8)
        tip = page.locator("#tip")
        expect(tip).to_contain_text("seed")
        expect(tip).to_contain_text("return 1 at timestep")
        expect(tip).to_contain_text("FrozenLake-v1/")
        expect(page.locator("#seed a")).to_have_attribute("href", tip.inner_text().split("\n")[2])
        page.mouse.move(5, 5)
        expect(tip).to_be_hidden()

    def test_tables_are_sorted(self, page):
        def medians():
            """As sorted by the page: never, shown as more than the budget, comes last."""
            cells = page.locator("#outcomes tbody tr > :nth-child(4)")
            return [
                float(text) for text in cells.evaluate_all("all => all.map(c => c.dataset.sort)")
            ]

        before = medians()
        head = page.locator("#outcomes th", has_text="median timesteps")
        head.get_by_role("button").click()
        assert medians() == sorted(before)
        assert head.get_attribute("aria-sort") == "ascending"
        head.get_by_role("button").click()
        assert medians()[0] == max(before)
        head.get_by_role("button").click()
        assert column(page, 1)[0] == "POWR"
        cost = page.locator("#cost table").first
        cost.locator("th button").nth(1).click()
        speeds = cost.locator("tbody tr > :nth-child(2)").all_inner_texts()
        numbers = [float(text.replace(",", "")) for text in speeds]
        assert numbers == sorted(numbers)

    def test_a_keyboard_is_enough(self, visit, quick):
        page = visit(quick)
        page.keyboard.press("Tab")
        expect(page.get_by_text("Skip to the verdicts")).to_be_focused()
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate("document.activeElement.id || document.activeElement.name")
            )
            if reached[-1] == "curves":
                page.keyboard.press("ArrowRight")
                expect(page.locator("#seed")).to_contain_text("POWR, seed 0: return 0")
                page.keyboard.press("End")
                page.keyboard.press("ArrowDown")
                expect(page.locator("#seed")).to_contain_text("POWR, seed 1")
            if reached[-1] == "handle":
                page.keyboard.press("ArrowDown")
                assert threshold(page) == pytest.approx(0.79)
                page.keyboard.press("PageUp")
                assert threshold(page) == pytest.approx(0.89)
            if reached[-1] == "environments":
                page.keyboard.press("ArrowRight")
                expect(page.get_by_label("Taxi-v3", exact=True)).to_be_checked()
                page.keyboard.press("ArrowLeft")
            if reached[-1] == "arrivals":
                page.keyboard.press("ArrowRight")
                expect(page.get_by_label("lasting")).to_be_checked()
        order = ["environments", "x-axis", "curves", "handle", "threshold", "arrivals", "reference"]
        assert [name for name in reached if name in order] == order

    def test_a_link_restores_the_view(self, visit, quick):
        page = visit(quick)
        page.get_by_label("Taxi-v3", exact=True).check(force=True)
        page.get_by_role("checkbox", name="PPO", exact=True).uncheck()
        page.locator("#threshold").fill("-150.5")
        page.get_by_label("lasting").check(force=True)
        page.get_by_role("button", name="Dark").click()
        page.locator("#outcomes th button").first.click()
        page.locator("#earlier-taxi summary").click()
        expect(page.locator("#earlier-taxi")).to_have_attribute("open", "")
        page.wait_for_function("location.hash.includes('open=earlier-taxi')")
        shown = page.locator("#outcomes").inner_text()
        again = visit(quick, "#" + page.url.partition("#")[2])
        assert again.locator("#outcomes").inner_text() == shown
        assert threshold(again) == -150.5
        expect(again.locator("#earlier-taxi")).to_have_attribute("open", "")
        expect(again.locator("html")).to_have_attribute("data-theme", "dark")
        assert again.url.partition("#")[2] == page.url.partition("#")[2]
        again.get_by_role("button", name="Reset").click()
        assert "#" not in again.url

    def test_a_link_to_nonsense_shows_the_defaults(self, visit, quick, real_study):
        page = visit(quick, "#environment=Bus-v0&threshold=x:y&off=nobody&sort=99:9:up&x=cubic")
        runs = real_study.scales["quick"].runs()
        known = {run.algorithm for run in runs if run.environment == "FrozenLake-v1"}
        assert len(column(page, 1)) == len(known)
        assert threshold(page) == 0.8

    def test_a_link_to_a_verdict_opens_it_and_its_links_lead_back(self, visit, quick):
        page = visit(quick, "#lasting-taxi")
        expect(page.locator("#lasting-taxi table").first).to_be_visible()
        page.locator("#lasting-taxi").get_by_role("link", name="Taxi-v3 at 6").click()
        expect(page.get_by_label("lasting")).to_be_checked()
        expect(page.get_by_label("Taxi-v3", exact=True)).to_be_checked()
        expect(page.locator("#figures h2")).to_be_in_viewport()


@pytest.mark.parametrize("policy", ["deterministic", "sampled"])
@pytest.mark.parametrize("arrival", ["first", "lasting"])
def test_the_page_computes_what_python_computes(visit, paper, policy, arrival):
    """Counts, medians and exact p-values on the shipped runs, at ten thresholds each."""
    study = config.load(ROOT / "envs.yaml")
    loaded = read_results(study, "paper", ROOT / "results/paper")
    compute = {"first": statistics.time_to_threshold, "lasting": arrivals.time_to_lasting}[arrival]
    page = visit(paper, f"#policy={policy}&arrival={arrival}&off=")
    p_values = set()
    for environment, rows in loaded.evaluations.groupby("environment", sort=False):
        page.get_by_label(environment, exact=True).check(force=True)
        best = rows["mean"].max()
        low = rows["mean"].quantile(0.02)
        for level in np.linspace(low, best, THRESHOLDS).round(3):
            page.locator("#threshold").fill(str(level))
            times = {
                algorithm: [times_of(run, policy, level, compute) for _, run in runs]
                for algorithm, runs in by_run(rows)
            }
            for algorithm, own in times.items():
                row = page.locator(f"#outcomes tr[data-key='{algorithm}']")
                cells = row.evaluate(
                    "row => [...row.cells].map(c => [c.innerText, c.dataset.sort, c.dataset.exact])"
                )
                assert cells[2][0] == f"{np.isfinite(own).sum()} of {len(own)}"
                assert float(cells[3][1]) == statistics.censored_median(own)
                if algorithm != "powr":
                    expected = statistics.probability_smaller(times["powr"], own)
                    assert float(cells[5][1]) == pytest.approx(expected.effect, abs=1e-15)
                    assert float(cells[6][2]) == expected.p_value
                    p_values.add(expected.p_value)
    assert len(p_values) > 5


def by_run(rows):
    for algorithm, runs in rows.groupby("algorithm", sort=False):
        yield algorithm, runs.groupby("seed")


def times_of(run, policy, level, compute):
    column, _ = arrivals.POLICIES[policy]
    returns = run["mean"] if run[column].isna().any() else run[column]
    return compute(run["timestep"], returns, level)
