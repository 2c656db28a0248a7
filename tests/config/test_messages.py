"""What a user reads after a slip in envs.yaml, claims.yaml or --config: one line with a remedy."""

from pathlib import Path

import pytest

from suite.claims import ledger
from suite.training import preflight

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("file", "good", "bad", "message"),
    [
        ("claims.yaml", "\nlevel:", "\nlevle:", ": levle is not known here: did you mean level?"),
        ("envs.yaml", "    timesteps: {", "    timestep: {", ": did you mean timesteps?"),
        ("envs.yaml", "\n    kwargs: {", "\n   kwargs: {", ": wrong indentation: align"),
    ],
)
def test_a_slip_is_told_in_one_line(file, good, bad, message, tmp_path, capsys):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert good in text
    path = tmp_path / file
    path.write_text(text.replace(good, bad, 1), encoding="utf-8")
    command = {"claims.yaml": ledger.main, "envs.yaml": preflight.main}[file]
    option = {"claims.yaml": "--claims", "envs.yaml": "--envs"}[file]
    assert command(["--scale", "paper", option, str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f": {path}" in line
    assert message in line
