"""The report in a real browser, on a laptop and on a phone: make report-test."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.support.replication import ROOT

pytestmark = pytest.mark.browser

SIZES = {"laptop": {"width": 1200, "height": 800}, "phone": {"width": 400, "height": 844}}
TALLEST = 12_000  # pixels of the page on a laptop, before anything is opened
PAPER = ROOT / "results/paper"
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
TEXTS = "p, li, small, figcaption, a, summary, th, td, label, button, legend, .badge"


@pytest.fixture
def visit(browser):
    """Opens a page; at the end it must have had no complaint and have loaded nothing else."""
    contexts, complaints, requests = [], [], []

    def open_page(path, hash_="", size="laptop", **options):
        contexts.append(browser.new_context(viewport=SIZES[size], **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + hash_)
        return page

    yield open_page
    assert complaints == []
    assert [url for url in requests if not url.startswith(("data:", "file:", "blob:"))] == []
    assert sum(url.startswith("file:") for url in requests) == len(contexts)
    for context in contexts:
        context.close()


@pytest.fixture
def quick(results):
    return results / "quick/report.html"


@pytest.fixture(params=SIZES)
def page(visit, quick, request):
    return visit(quick, size=request.param)


def download(page, button, folder):
    with page.expect_download() as started:
        page.locator(button).click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


class TestReading:
    @pytest.mark.parametrize("size", SIZES)
    def test_the_shipped_page_is_short_and_never_wider_than_the_screen(self, visit, size):
        page = visit(PAPER / "report.html", size=size)
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= TALLEST
        assert page.locator(".card").count() == 8
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("name", ["quicker", "stable-amount", "main-theorem", "provenance"])
    def test_a_link_scrolls_to_what_it_opens(self, visit, size, name):
        page = visit(PAPER / "report.html", f"#{name}", size)
        target = page.locator(f"[id='{name}']")
        expect(target).to_be_in_viewport()
        page.wait_for_timeout(300)  # nothing that is drawn later moves it away
        assert -20 < target.bounding_box()["y"] < SIZES[size]["height"] / 2
        details = target.locator("details").first
        if name == "quicker":
            expect(details.locator("table")).to_be_visible()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out(self, page, scheme):
        page.emulate_media(color_scheme=scheme)
        ratios = page.locator(TEXTS).evaluate_all(CONTRASTS)
        assert len(ratios) > 100
        assert min(ratios) >= 4.5

    def test_without_scripts_cards_and_figures_stand(self, visit, quick):
        page = visit(quick, java_script_enabled=False)
        expect(page.locator("#quicker svg")).to_be_visible()
        expect(page.locator("#explorer")).to_be_hidden()
        page.locator("#figures summary").click()
        assert page.locator("#figures img").filter(visible=True).count() == 2


def threshold(page, number):
    return float(page.locator(".handle").nth(number).get_attribute("aria-valuenow"))


class TestExploring:
    def test_a_drag_moves_the_threshold_and_what_follows_from_it(self, page, tmp_path):
        assert threshold(page, 1) == 6
        grip = page.locator(".handle span").nth(1)
        grip.scroll_into_view_if_needed()
        box, chart = grip.bounding_box(), page.locator(".curves .u-over").nth(1).bounding_box()
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + 10, chart["y"] + chart["height"] / 2, steps=5)
        assert -200 < threshold(page, 1) < 6
        page.mouse.move(box["x"] + 10, chart["y"] + chart["height"] - 2, steps=5)
        page.mouse.up()
        assert threshold(page, 1) == float(page.locator("input[type=number]").nth(1).input_value())
        assert threshold(page, 1) == -200
        table = pd.read_csv(download(page, "button[data-chart=points][data-as=csv]", tmp_path))
        taxi = table[table["environment"] == "Taxi-v3"]
        assert (taxi["first_time"] < 200).all()  # the first evaluation
        page.get_by_role("button", name="8", exact=True).click()
        assert threshold(page, 1) == 8
        page.locator(".handle").nth(1).press("ArrowDown")
        assert threshold(page, 1) == pytest.approx(7.9)

    @pytest.mark.parametrize("times", ["first", "lasting"])
    def test_times_are_those_of_the_tables(self, visit, tmp_path, times):
        """Of every shipped run at the study's thresholds, both policies."""
        page = visit(PAPER / "report.html", f"#times={times}&off=&threshold=Taxi-v3:8")
        path = download(page, "button[data-chart=points][data-as=csv]", tmp_path)
        key = ["environment", "algorithm", "policy", "seed", "threshold"]
        shown = pd.read_csv(path).set_index(key)[f"{times}_time"]
        table = pd.read_csv(PAPER / "runs.csv").replace({"policy": {"deterministic": "greedy"}})
        due = table.set_index(key)[f"{times}_arrival"]
        # Left out: the other threshold of Taxi-v3, and what DQN samples to explore.
        for environment, algorithm, policy, _, level in set(due.index) - set(shown.index):
            explores = algorithm.startswith("dqn") and policy == "sampled"
            assert (environment, level) == ("Taxi-v3", 6) or explores
        assert len(shown) > 300
        pd.testing.assert_series_equal(
            shown, due.reindex(shown.index), check_names=False, check_dtype=False
        )

    def test_fixed_starts_policies_and_algorithms_are_chosen(self, visit, tmp_path):
        page = visit(PAPER / "report.html")
        page.locator("#starts").get_by_label("fixed").check(force=True)
        page.locator("#policies").get_by_label("sampled").check(force=True)
        page.get_by_role("checkbox", name="A2C, authors").uncheck()
        table = pd.read_csv(download(page, "button[data-chart=curves][data-as=csv]", tmp_path))
        assert set(table["starts"]) == {"fixed"}
        assert set(table["policy"]) == {"sampled"}
        assert "a2c-authors" not in set(table["algorithm"])
        powr = table[(table["environment"] == "Taxi-v3") & (table["algorithm"] == "powr")]
        files = (ROOT / "results/fixed-starts/Taxi-v3-fixed/powr").glob("seed0-*.csv")
        due = pd.read_csv(next(files))["sampled_mean"]
        assert powr.loc[powr["seed"] == 0, "return"].tolist() == due.tolist()

    def test_seeds_are_shown_on_hover(self, page):
        chart = page.locator(".curves .u-over").first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] - 60, box["y"] + 16)
        tip = page.locator("#tip")
        expect(tip).to_contain_text("seed")
        expect(tip).to_contain_text("return 1 at timestep")
        expect(tip).to_contain_text("FrozenLake-v1/")
        page.mouse.move(2, 2)
        expect(tip).to_be_hidden()

    def test_a_link_restores_the_view(self, visit, quick):
        page = visit(quick)
        page.locator("#x").get_by_label("linear").check(force=True)
        page.get_by_role("checkbox", name="PPO", exact=True).uncheck()
        page.locator("input[type=number]").nth(1).fill("-150.5")
        page.wait_for_function("location.hash.includes('150.5')")
        again = visit(quick, "#" + page.url.partition("#")[2])
        assert threshold(again, 1) == -150.5
        expect(again.locator("#x").get_by_label("linear")).to_be_checked()
        expect(again.get_by_role("checkbox", name="PPO", exact=True)).not_to_be_checked()
        expect(again.locator("#explore h2")).to_be_in_viewport()
        again.get_by_role("button", name="Reset").click()
        assert "#" not in again.url
        assert threshold(again, 1) == 6

    def test_a_link_to_nonsense_shows_the_defaults(self, visit, quick):
        page = visit(quick, "#starts=moon&threshold=x:y&off=nobody&x=cubic")
        assert [threshold(page, number) for number in range(3)] == [0.8, 6, -110]
        expect(page.locator("#starts").get_by_label("random")).to_be_checked()
