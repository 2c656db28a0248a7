"""Pictures of what an agent learned, and animations of its episodes.

>>> from powr import POWR
>>> figure = draw(POWR("FrozenLake-v1", seed=0).learn(300))
>>> figure.savefig("lake.png")  # doctest: +SKIP
"""

try:
    from powr.pictures.episodes import render_episode
    from powr.pictures.figures import draw, explain
except ImportError as error:
    raise ImportError(
        "pictures need matplotlib and pillow: pip install 'powr[pictures]'", name=error.name
    ) from error

__all__ = ["draw", "explain", "render_episode"]
