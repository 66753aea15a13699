"""The experiments of the VBKS paper: its figures 2 to 5 and its tables 2 and 3.

What each does and where it differs from the paper stands in `paper_experiments`. The usual size is
for two hours on two cores: fewer steps and runs than the paper's on real data, and K144 is
trained once for each data set instead of once for each run. `--full` has the 15,000 steps of the
authors and ten runs or draws of everything, and takes days.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from benchmarks.paper_experiments import figure_2, figure_5, figures_3_4, panels


def run(context: Context) -> list[Figure]:
    """All experiments, one after the other, with the time of each."""
    size = "QUICK" if context.quick else "FULL" if context.full else "USUAL"
    experiments: dict[str, Callable[[], Iterable[Figure]]] = {
        "Figure 5": lambda: figure_5.measure(getattr(figure_5, size), context.seed),
        "Figures 3 and 4": lambda: figures_3_4.measure(getattr(figures_3_4, size), context),
        "Figure 2": lambda: figure_2.measure(getattr(figure_2, size), context.seed),
    }
    figures: list[Figure] = []
    for name, measure in experiments.items():
        began = time.perf_counter()
        figures += measure()
        seconds = time.perf_counter() - began
        tell(f"{name}: {seconds:.0f} s")
        figures.append(Figure(f"{name}: time of the experiment", seconds, "s"))
    return figures


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run, as the paper's figures show it."""
    panels.draw(lines[-1], path)
