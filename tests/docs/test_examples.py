"""The Python that the pages print, run from top to bottom."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


FILES = {
    "howto/algorithm": [],
    "howto/environment": ["pendulum.png"],
    "howto/kernel": [],
    "library": ["agent.npz", "agent.pdf", "agent.png", "episode.gif"],
}


@pytest.mark.parametrize(("page", "written"), FILES.items(), ids=FILES)
def test_a_page_runs_as_printed(page, written, tmp_path):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "-c", "\n".join(BLOCK.findall(text))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert sorted(os.listdir(tmp_path)) == written
