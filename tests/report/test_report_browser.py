"""The report in a real browser, on a laptop, a phone and paper: make report-test."""

import json

import pytest

from tests.support import replication

from . import chromium

pytestmark = pytest.mark.browser

WIDTHS = {"laptop": (1280, 800), "phone": (390, 844)}

VISIBLE = """
(selector => [...document.querySelectorAll(selector)].filter(element => {
  const box = element.getBoundingClientRect();
  return element.checkVisibility({visibilityProperty: true, opacityProperty: true})
    && box.width > 0 && box.height > 0 && box.left < innerWidth && box.right > 0;
}).length)
"""
# Contrast ratios of WCAG 2 between each text and what is painted behind it.
CONTRASTS = """
(selector => {
  const channels = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => channels(colour).slice(0, 3)
    .map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    const colour = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    return channels(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  return [...document.querySelectorAll(selector)].map(element => {
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
})
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runs = replication.write_replication(folder, "quick")
    (folder / runs[-1].path).unlink()
    replication.make_tables_and_figures(folder, "quick")
    replication.make_report(folder, "quick")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if chromium.find() is None:
        pytest.exit(
            "Chromium is not installed: run `apt-get install chromium` (Debian) or "
            "`apt-get install chromium-browser` (Ubuntu)",
            returncode=1,
        )
    with chromium.start(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(params=WIDTHS)
def page(browser, results, request):
    browser.resize(*WIDTHS[request.param])
    browser.open(results / "quick" / "report.html")
    return browser


def call(page, function, *arguments):
    return page.evaluate(f"{function}({', '.join(map(json.dumps, arguments))})")


def test_opens_without_complaint_and_without_the_network(page, results):
    assert page.complaints() == []
    assert page.requested() == [(results / "quick" / "report.html").as_uri()]


def test_all_verdicts_are_visible(page):
    number = page.evaluate("document.querySelectorAll('details.claim').length")
    assert number > 10
    assert call(page, VISIBLE, "details.claim > summary .badge") == number
    assert call(page, VISIBLE, "details.claim > summary .text") == number


def test_both_figures_are_drawn(page):
    assert call(page, VISIBLE, "figure img") == 2
    sizes = "[...document.images].every(image => image.complete && image.naturalWidth > 300)"
    assert page.evaluate(sizes)


def test_the_outcome_is_on_the_first_screen(page):
    bottom = "document.querySelector('.counts').getBoundingClientRect().bottom < innerHeight"
    assert page.evaluate(bottom)
    assert page.evaluate("document.querySelector('.headline').innerText").startswith("Preliminary")


def test_only_boxes_scroll_sideways(page):
    page.evaluate("document.querySelectorAll('details').forEach(line => { line.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_line_opens_on_its_evidence(page):
    assert call(page, VISIBLE, "#earlier-taxi table") == 0
    page.evaluate("document.querySelector('#earlier-taxi summary').click()")
    assert call(page, VISIBLE, "#earlier-taxi table") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(page, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.call("Emulation.setEmulatedMedia", features=[feature])
    ratios = call(page, CONTRASTS, "p, li, small, figcaption, a, summary, th, td, .badge, .missing")
    page.call("Emulation.setEmulatedMedia", features=[])
    assert len(ratios) > 100
    assert min(ratios) >= 4.5


def test_paper_has_the_evidence_of_every_verdict(page):
    page.call("Emulation.setEmulatedMedia", media="print")
    number = page.evaluate("document.querySelectorAll('details.claim').length")
    assert call(page, VISIBLE, ".on-paper .evidence") == number
    assert call(page, VISIBLE, "nav") == 0
    page.call("Emulation.setEmulatedMedia", media="")
    assert page.pdf().startswith(b"%PDF")


def test_a_bad_page_is_found_out(browser, tmp_path):
    """The checks above can fail."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<body style='width: 3000px; color: #bbb'><p>pale"
        "<img src='http://127.0.0.1:9/x.png'><script>console.error('a'); nothing()</script>"
    )
    browser.resize(390, 844)
    browser.open(path)
    assert len(browser.complaints()) >= 2
    assert "http://127.0.0.1:9/x.png" in browser.requested()
    assert browser.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert min(call(browser, CONTRASTS, "p")) < 4.5
