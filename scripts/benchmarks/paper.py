"""The experiments of the VBKS paper: its figures 2 to 5 and its tables 2 and 3.

What each does and where it differs from the paper stands in `paper_experiments`. The usual size is
for two hours on two cores: fewer steps and runs than the paper's on real data, and K144 is
trained once for each data set instead of once for each run. `--full` has the 15,000 steps of the
authors and ten runs or draws of everything, and takes days. `--part` runs one experiment, so that
all can be recorded one after the other; the picture has the newest record of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.averaging import read_intel_lab, read_swissgrid
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line, newest
from benchmarks.door.telling import tell
from benchmarks.paper_experiments import figure_2, figure_5, figures_3_4, panels
from benchmarks.paper_experiments.problems import PRODUCT, SUM, Problem

STARTS = {
    "figure-5": ("Figure 5",),
    "swissgrid": ("Figure 3", "Table 2"),
    "intel-lab": ("Figure 4", "Table 3"),
    "product": (f"Figure 2, {PRODUCT.text}",),
    "sum": (f"Figure 2, {SUM.text}",),
}
"""How the names of figures begin that a part measures."""

PARTS = tuple(STARTS)


def run(context: Context) -> list[Figure]:
    """All experiments, one after the other, or a part of them, with the time of each."""
    figures: list[Figure] = []
    for name in PARTS if context.part is None else (context.part,):
        began = time.perf_counter()
        figures += _experiments(context)[name]()
        seconds = time.perf_counter() - began
        tell(f"{name}: {seconds:.0f} s")
        figures.append(Figure(f"{STARTS[name][0]}: time of the experiment", seconds, "s"))
    return figures


def _experiments(context: Context) -> dict[str, Callable[[], Iterable[Figure]]]:
    size = "QUICK" if context.quick else "FULL" if context.full else "USUAL"
    real, synthetic = getattr(figures_3_4, size), getattr(figure_2, size)

    def synthetic_of(problem: Problem) -> list[Figure]:
        return figure_2.measure(replace(synthetic, problem=problem), context.seed)

    return {
        "figure-5": lambda: figure_5.measure(getattr(figure_5, size), context.seed),
        "swissgrid": lambda: figures_3_4.measure(real, read_swissgrid(context), context.seed),
        "intel-lab": lambda: figures_3_4.measure(real, read_intel_lab(context), context.seed),
        "product": lambda: synthetic_of(PRODUCT),
        "sum": lambda: synthetic_of(SUM),
    }


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest record of each part, as the paper's figures show it."""
    figures = [figure for starts in STARTS.values() for figure in newest(lines, starts)]
    panels.draw(replace(lines[-1], figures=tuple(figures)), path)
