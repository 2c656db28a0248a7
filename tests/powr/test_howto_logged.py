"""The how-to on logged data does what it says: its code runs, on a log of MountainCar-v0."""

import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from powr import POWR

PAGE = Path(__file__).parents[2] / "docs" / "howto.md"


def test_from_a_log_to_a_policy_and_its_value(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    agent = POWR("MountainCar-v0", seed=1000).learn(300, lambda _: True)
    states, actions, rewards, next_states, terminated = agent.data.columns()
    columns = [states, actions[:, None], rewards[:, None], next_states, terminated[:, None]]
    header = "position,speed,action,reward,next_position,next_speed,terminated"
    np.savetxt("log.csv", np.hstack(columns), delimiter=",", header=header, comments="")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = (block for block in blocks if "log.csv" in block)
    exec(compile(code, PAGE.name, "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    value = float(re.search(r"estimated value: (.*)", printed)[1])
    assert -100 <= value < 0  # what a reward of -1 a step allows
    loaded = POWR.load("policy.npz")
    assert loaded.num_timesteps == 300
    actions, _ = loaded.predict(states, deterministic=True)
    assert set(actions) <= {0, 1, 2}
    with pytest.raises(ValueError, match="observation space"):
        POWR.load("policy.npz", gymnasium.make("MountainCar-v0"))
