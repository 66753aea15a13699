"""A picture of ours beside a loop over GPflow models, for figures that both have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.door.record import Line

__all__ = ["by_loop", "draw_pairs"]


def by_loop(name: str) -> str:
    """The name of the loop's figure beside one of ours."""
    return name.replace(",", " by the loop,", 1)


def draw_pairs(line: Line, unit: str, title: str, path: Path) -> None:
    """Bars of one run for every figure in this unit that the loop has, too."""
    values = {figure.name: figure.value for figure in line.figures if figure.unit == unit}
    names = [name for name in values if "," in name and by_loop(name) in values]
    canvas = Canvas(figsize=(8, 1.2 + 0.7 * len(names)), layout="constrained")
    panel = canvas.subplots()
    for offset, label, color in ((-0.2, "vbks", "tab:blue"), (0.2, "a GPflow loop", "tab:gray")):
        heights = [values[name if offset < 0 else by_loop(name)] for name in names]
        bars = panel.barh(np.arange(len(names)) + offset, heights, 0.38, label=label, color=color)
        panel.bar_label(bars, [f"{height:,.4g} {unit}" for height in heights], padding=3)
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.set_xscale("log")
    least = min(values[name] for name in names)
    panel.set_xlim(0.5 * least, 30 * max(values[by_loop(name)] for name in names))
    panel.set_xlabel(unit)
    panel.legend(loc="upper right")
    canvas.suptitle(f"{title}, {line.cores} cores, {line.date[:10]}")
    canvas.savefig(path, dpi=120)
