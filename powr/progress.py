"""The progress bar of `POWR.learn`: timesteps, last return, plans, states and what was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from powr.agent import POWR

# Timesteps between two updates of the figures beside the bar.
_EVERY = 50


class Progress:
    """A tqdm bar over timesteps where enabled, else nothing."""

    def __init__(self, agent: POWR, total_timesteps: int, *, enabled: bool):
        self._agent = agent
        self._bar: Any = make_bar(total_timesteps) if enabled else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            if error is None:  # else the model may have to be fitted again, and nobody waits for it
                self._show()
            self._bar.close()

    def step(self) -> None:
        if self._bar is not None:
            self._bar.update()
            if self._bar.n % _EVERY == 0:
                self._show()

    def _show(self) -> None:
        self._bar.set_postfix_str(figures_of(self._agent))


def figures_of(agent: POWR) -> str:
    """The figures beside the bar, short enough for a terminal of 80 columns."""
    figures = [f"plans {agent.n_plans_}", f"states {agent._planner.n_states}"]
    if agent.episode_returns:
        figures.insert(0, f"return {agent.episode_returns[-1]:.4g}")
    for name in ("prior", "gamma"):
        if name in agent.settings_:
            figures.append(f"{name} {agent.settings_[name][0]:.3g}")
    return ", ".join(figures)


def make_bar(total_timesteps: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "progress_bar=True needs tqdm: pip install tqdm, or pip install 'powr[progress]'"
        ) from error
    return tqdm(
        total=total_timesteps,
        unit="step",
        dynamic_ncols=True,
        bar_format="{percentage:3.0f}%|{bar}| {n_fmt} [{remaining}]{postfix}",
    )
