"""The Python that the pages print runs, and does what they say."""

import re

import pytest
import yaml

from tests.docs.pages import ROOT, blocks, run

FILES = {
    "README.md": [],
    "docs/howto.md": [],
    "docs/library.md": ["agent.npz", "agent.pdf", "agent.png", "episode.gif"],
}


@pytest.mark.parametrize(("page", "written"), FILES.items(), ids=FILES)
def test_a_page_runs_as_printed(page, written, tmp_path):
    run(ROOT / page, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == written


@pytest.mark.docs
def test_the_tutorial_prints_and_draws_what_it_shows(tmp_path):
    page = ROOT / "docs/tutorial.md"
    assert run(page, tmp_path) == "".join(output for _, output in blocks(page))
    shown = sorted(path.name for path in (ROOT / "docs/tutorial").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == shown
    text = page.read_text(encoding="utf-8")
    assert all(f"](tutorial/{name})" in text for name in shown)


def test_the_algorithm_of_ones_own_is_the_shipped_example():
    text = (ROOT / "docs/howto.md").read_text(encoding="utf-8")
    example = (ROOT / "examples/my_agent.py").read_text(encoding="utf-8")
    assert any(code.strip() in example for code, _ in blocks(ROOT / "docs/howto.md"))
    study = yaml.safe_load((ROOT / "examples/my_study.yaml").read_text(encoding="utf-8"))
    (printed,) = re.findall(r"```yaml\n(classes:.*?)```", text, re.DOTALL)
    printed = yaml.safe_load(printed)
    assert printed["classes"] == study["classes"]
    assert printed["algorithms"]["mine"] == study["algorithms"]["mine"]
