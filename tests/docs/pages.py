"""The Python that a page prints, run from top to bottom.

python -m tests.docs.pages docs/tutorial.md docs/tutorial    makes the tutorial's pictures anew, and
prints what its blocks print.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def blocks(page):
    """The page's blocks of Python, each with the output printed below it.

    Not the one that reads log.csv, which tests/powr/test_howto_logged.py runs.
    """
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(code, output) for code, output in found if "log.csv" not in code]


def run(page, folder):
    """What the page's Python prints; its files are written to the folder."""
    finished = subprocess.run(
        [sys.executable, "-c", "\n".join(code for code, _ in blocks(page))],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "extension")))},
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


if __name__ == "__main__":
    print(run(ROOT / sys.argv[1], ROOT / sys.argv[2]), end="")
