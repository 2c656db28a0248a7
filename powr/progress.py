"""The progress bar of `learn`: timesteps, last return and number of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from powr.environments.agent import Agent

# Timesteps between two updates of the figures beside the bar.
_EVERY = 50


class Progress:
    """A tqdm bar over timesteps if enabled; otherwise it does nothing."""

    def __init__(self, agent: Agent, total_timesteps: int, *, enabled: bool):
        self._agent = agent
        self._bar: Any = None
        if enabled:
            try:
                from tqdm import tqdm
            except ImportError as error:
                raise ImportError(
                    "progress_bar=True needs tqdm: pip install tqdm, or pip install "
                    "'powr[progress]'"
                ) from error
            form = "{percentage:3.0f}%|{bar}| {n_fmt} [{remaining}]{postfix}"
            self._bar = tqdm(
                total=total_timesteps, unit="step", dynamic_ncols=True, bar_format=form
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._show()
            self._bar.close()

    def step(self) -> None:
        if self._bar is not None:
            self._bar.update()
            if self._bar.n % _EVERY == 0:
                self._show()

    def _show(self) -> None:
        returns = self._agent.episode_returns
        last = f"return {returns[-1]:.4g}, " if returns else ""
        self._bar.set_postfix_str(f"{last}plans {self._agent.n_plans_}")
