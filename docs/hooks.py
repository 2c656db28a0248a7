"""What the site needs beyond Markdown: formulas as MathML, and files from outside docs/.

Formulas are rendered when the site is built, so that a page fetches nothing to show them. A page of
docs/ may link to any file of the repository, as it must to be read there; what it links to comes
along into the site under the same path, and a linked .md becomes a page.
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

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Where files from outside docs/ lie in the site, so that no page can have the same place.
OUTSIDE = "repository"
LINK = re.compile(r"(\]\(|src=\"|href=\")([^)\"#\s]+)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)

log = logging.getLogger("mkdocs.hooks")


def on_files(files: Files, config: Any) -> Files:
    """Take in every file of the repository that a page links to, and what that links to."""
    waiting = [Path(page.abs_src_path or "") for page in files.documentation_pages()]
    known: set[str] = set()
    while waiting:
        page = waiting.pop()
        for _, link in LINK.findall(page.read_text(encoding="utf-8")):
            path = linked(page, link)
            if path is None or path.is_relative_to(DOCS) or place(path) in known:
                continue
            known.add(place(path))
            files.append(File.generated(config, place(path), abs_src_path=str(path)))
            if path.suffix == ".md":
                waiting.append(path)
    return files


def linked(page: Path, link: str) -> Path | None:
    """The file of the repository that a link leads to, if it is one."""
    if "://" in link or link.startswith(("/", "#", "mailto:")):
        return None
    path = (page.parent / link).resolve()
    return path if path.is_file() and path.is_relative_to(ROOT) else None


def place(path: Path) -> str:
    """Where a file of the repository lies in the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{OUTSIDE}/{path.relative_to(ROOT).as_posix()}"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to where the files lie in the site."""
    source = Path(page.file.abs_src_path)
    here = posixpath.dirname(page.file.src_uri)

    def moved(match: re.Match[str]) -> str:
        start, link = match.groups()
        path = linked(source, link)
        return match[0] if path is None else start + posixpath.relpath(place(path), here or ".")

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
