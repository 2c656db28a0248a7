"""The progress bar of `POWR.learn`: timesteps, last return, plans, seconds per step."""

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
        agent, bar = self._agent, self._bar
        figures = {"s/step": f"{bar.format_dict['elapsed'] / max(bar.n, 1):.1e}"}
        figures = {"plans": f"{agent.n_plans_}", **figures}
        if agent.episode_returns:
            figures = {"return": f"{agent.episode_returns[-1]:.6g}", **figures}
        bar.set_postfix(figures)


def make_bar(total_timesteps: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "progress_bar=True needs tqdm: pip install tqdm, or pip install 'powr[progress]'"
        ) from error
    return tqdm(total=total_timesteps, unit="step")
