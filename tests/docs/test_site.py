"""The documentation site, built strictly and opened in headless Chromium."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytestmark = pytest.mark.docs
ROOT = Path(__file__).parents[2]
WIDTHS = (1200, 400)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    finished = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert "WARNING" not in finished.stderr
    return folder


def pages(site):
    """All pages of the site but the report, which has tests of its own."""
    found = sorted(site.rglob("*.html"))
    return [path for path in found if path.name not in ("404.html", "report.html")]


@pytest.fixture(scope="session")
def visits(site, browser):
    """What each page shows and asks for, at each width."""
    seen = {}
    for width in WIDTHS:
        for path in pages(site):
            page = browser.new_page(viewport={"width": width, "height": 900})
            faults, requests = [], []
            page.on("pageerror", lambda error, faults=faults: faults.append(str(error)))
            page.on(
                "console",
                lambda said, faults=faults: (
                    faults.append(said.text) if said.type in ("error", "warning") else None
                ),
            )
            page.on("request", lambda request, requests=requests: requests.append(request.url))
            page.goto(path.as_uri(), wait_until="load")
            foreign = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
            seen[path.relative_to(site).as_posix(), width] = {
                "faults": faults,
                "foreign": foreign,
                **page.evaluate(LOOK),
            }
            page.close()
    return seen


LOOK = r"""() => ({
    width: document.documentElement.scrollWidth,
    links: [...document.querySelectorAll("a[href]")].map(link => link.href),
    blank: [...document.images].filter(image => !image.naturalWidth).map(image => image.src),
    formulas: [...document.querySelectorAll("math")].map(
        formula => formula.getBoundingClientRect().width),
    raw: [...document.querySelectorAll("article p, article li, article td")].filter(
        text => /\\\(|\\\[|\$\$/.test(text.textContent)).map(text => text.textContent),
})"""


@pytest.mark.parametrize("kind", ["faults", "foreign", "blank", "raw"])
def test_no_page_has_errors_foreign_requests_blank_pictures_or_raw_formulas(visits, kind):
    assert {place: seen[kind] for place, seen in visits.items() if seen[kind]} == {}


def test_no_link_between_pages_is_broken(visits):
    broken = set()
    for (place, _), seen in visits.items():
        for link in seen["links"]:
            path = unquote(urldefrag(link).url.removeprefix("file://"))
            if link.startswith("file:") and not Path(path).exists():
                broken.add((place, path))
    assert broken == set()


def test_formulas_are_rendered(visits):
    for name in ("tutorial.html", "theory.html"):
        formulas = visits[name, 1200]["formulas"]
        assert len(formulas) >= 10
        assert min(formulas) > 0


def test_no_page_is_wider_than_a_narrow_screen(visits):
    wide = {place: seen["width"] for place, seen in visits.items() if seen["width"] > place[1]}
    assert wide == {}
