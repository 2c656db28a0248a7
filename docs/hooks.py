"""What the site needs beyond Markdown: formulas as MathML, and files from outside docs/.

Formulas are rendered when the site is built, so that a page fetches nothing to show them. A page of
docs/ may link to any file of the repository, as it must to be read there; what it links to comes
along into the site under the same path.
"""

from __future__ import annotations

import html
import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# Where files from outside docs/ lie in the site, so that no page can have the same place.
OUTSIDE = "repository"
PAGES = (
    "results/paper/summary.md",
    "results/paper/claims.md",
)  # these become pages, other files are copied

LINK = re.compile(r"(\]\(|src=\"|href=\")([^)\"#\s]+)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)

log = logging.getLogger("mkdocs.hooks")


def on_files(files: Files, config: Any) -> Files:
    """Take in every file of the repository that a page links to."""
    waiting = [Path(page.abs_src_path or "") for page in files.documentation_pages()]
    known: set[str] = set()
    while waiting:
        page = waiting.pop()
        for _, link in LINK.findall(page.read_text(encoding="utf-8")):
            target = outside(page.parent, link)
            if target is None or target in known:
                continue
            known.add(target)
            files.append(
                File.generated(config, f"{OUTSIDE}/{target}", abs_src_path=str(ROOT / target))
            )
            if target in PAGES:
                waiting.append(ROOT / target)
    return files


def outside(folder: Path, link: str) -> str | None:
    """The path in the repository of a file outside docs/ that a link leads to."""
    if "://" in link or link.startswith(("/", "#", "mailto:")):
        return None
    path = (folder / link).resolve()
    if not path.is_file() or not path.is_relative_to(ROOT) or path.is_relative_to(ROOT / "docs"):
        return None
    return path.relative_to(ROOT).as_posix()


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to files outside docs/ to where these lie in the site."""
    source = Path(page.file.abs_src_path)
    here = posixpath.dirname(page.file.src_uri)

    def moved(match: re.Match[str]) -> str:
        start, link = match.groups()
        target = outside(source.parent, link)
        if target is None:
            return match[0]
        return start + posixpath.relpath(f"{OUTSIDE}/{target}", here or ".")

    return LINK.sub(moved, markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Formulas as MathML, which every browser draws by itself."""

    def rendered(match: re.Match[str]) -> str:
        kind, text = match.groups()
        latex = html.unescape(text.strip())
        latex = latex.removeprefix(r"\(").removeprefix(r"\[")
        latex = latex.removesuffix(r"\)").removesuffix(r"\]")
        try:
            return convert(latex, display="block" if kind == "div" else "inline")
        except Exception as error:
            log.warning("%s: %r is no formula: %r", page.file.src_uri, latex, error)
            return match[0]

    return FORMULA.sub(rendered, content)
