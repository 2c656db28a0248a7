"""The environments of the scales beyond the eight: they are those of envs.yaml, thresholds too."""

import math

import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from powr.tabular import TabularMDP
from suite import config
from suite.training import environments

STUDY = config.load("extension/study.yaml")
SCALES = [STUDY.scales[name] for name in ("unseen", "boxes", "operations")]
NAMES = [name for scale in SCALES for name in scale.timesteps]


@pytest.mark.parametrize("name", [*NAMES, "LunarLander-v3"])
def test_is_the_environment_of_the_fingerprint(name):
    if name == "LunarLander-v3":
        pytest.importorskip("Box2D", reason="needs requirements-lander.txt")
    block = STUDY.environments[name]
    assert environments.check_fingerprint(block.resolve()) == block.fingerprint


@pytest.mark.parametrize("seed", range(5))
def test_a_lake_is_the_random_map_of_its_seed_with_95_percent_of_its_optimum(seed):
    for name, is_slippery in (("FrozenLake-6x6", False), ("FrozenLake-slippery-6x6", True)):
        block = STUDY.environments[f"{name}-{seed}"]
        expected = generate_random_map(size=6, p=0.8, seed=seed)
        assert block.kwargs == {"desc": expected, "is_slippery": is_slippery}
    optimum = TabularMDP.from_env(environments.make(block.resolve())).optimal_return()
    assert block.thresholds == [math.floor(95 * optimum) / 100]


def test_the_best_play_meets_the_threshold_of_blackjack():
    block = STUDY.environments["Blackjack-v1"]
    rng, env, total = np.random.default_rng(0), environments.make(block.resolve()), 0.0
    n_hands = 20_000
    for seed in rng.integers(2**31, size=n_hands):
        hand, _ = env.reset(seed=int(seed))
        over = False
        while not over:
            hand, reward, over, truncated, _ = env.step(best_play(*hand))
            assert not truncated
        total += reward
    # Four standard errors of the mean are 0.027.
    assert total / n_hands == pytest.approx(block.thresholds[0], abs=0.027)


def best_play(total, dealer, usable_ace):
    """Sutton and Barto, "Reinforcement learning", 2nd edition, Figure 5.2: 1 is hit, 0 is stick."""
    if usable_ace:
        return int(total <= 17 or (total == 18 and dealer in (1, 9, 10)))
    if total <= 11:
        return 1
    if total == 12:
        return int(dealer not in (4, 5, 6))
    return int(total <= 16 and dealer not in range(2, 7))
