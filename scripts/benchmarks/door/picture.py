"""The picture of a benchmark that brings none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from benchmarks.door.record import Line

__all__ = ["draw"]


def draw(lines: Sequence[Line], path: Path) -> None:
    """Every figure of the newest run, over all runs that have it."""
    newest = lines[-1]
    canvas = Canvas(figsize=(7, 1 + 1.6 * len(newest.figures)), layout="constrained")
    panels = canvas.subplots(len(newest.figures), sharex=True, squeeze=False)[:, 0]
    for panel, figure in zip(panels, newest.figures, strict=True):
        values = [_value(line, figure.name) for line in lines]
        panel.plot(range(1, len(lines) + 1), values, "o-", color="tab:blue")
        if not any(value < 0 for value in values):
            panel.set_ylim(bottom=0)
        panel.set_title(_title(figure.name, figure.asked), loc="left", fontsize="medium")
        panel.set_ylabel(figure.unit)
    panels[-1].set_xlabel("run")
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    canvas.suptitle(f"{newest.name}, {newest.cores} cores, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def _value(line: Line, name: str) -> float:
    return next((f.value for f in line.figures if f.name == name), float("nan"))


def _title(name: str, asked: str | None) -> str:
    return f"{name} (asked: {asked})" if asked else name
