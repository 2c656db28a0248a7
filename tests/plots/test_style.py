"""A palette that survives grey print and the common kinds of colour blindness."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from suite.plots.style import KNOWN, SPARE, looks

ALL = [*KNOWN.values(), *SPARE]
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "usual": ([1, 0, 0], [0, 1, 0], [0, 0, 1]),
    "protanopia": (
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ),
    "deuteranopia": (
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ),
    "tritanopia": (
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ),
}
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(colour, sight):
    """CIELAB of a colour as seen with a kind of sight."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    x, y, z = np.cbrt(TO_XYZ @ seen / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("looks", "apart"), [(KNOWN.values(), 30), (ALL, 14)])
def test_all_pairs_of_colours_stay_apart(looks, apart, sight):
    """Without the shapes; a just noticeable difference is about 2."""
    for first, second in itertools.combinations([look.colour for look in looks], 2):
        assert np.linalg.norm(lab(first, sight) - lab(second, sight)) > apart


def test_grey_print_keeps_the_papers_colours_apart():
    lightness = sorted(lab(look.colour, "usual")[0] for look in KNOWN.values())
    assert min(np.diff(lightness)) > 12


def test_every_algorithm_has_a_line_and_a_marker_of_its_own():
    for attribute in ("colour", "dashes", "marker"):
        assert len({getattr(look, attribute) for look in ALL}) == len(ALL)


def test_a_new_algorithm_leaves_the_others_as_they_are():
    assert looks(["powr", "dqn-tuned", "dqn"])["dqn"] == KNOWN["dqn"]
    assert looks(["powr", "dqn-tuned"])["dqn-tuned"] == SPARE[0]
