"""One picture of all experiments, drawn from the record of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from benchmarks.door.record import Line
from benchmarks.paper_experiments.figures_3_4 import METHODS, NUMBERS, error_name

CURVE = r"Figure 2, (.*), (K\d+), (paper.*): median belief in it after (.*) of the data"
END = r"Figure 2, (.*), (K\d+), (vbks\.fit): belief in it at the end, mean()"
BELIEF = r"Figure (\d)a, (.*): belief after (\d+) steps"
TIMES = r"Figure 5, B=(\d+): time of (\d+) steps"
SLOPES = r"Figure 5, B=(\d+): time of a step"

Points = dict[str, list[tuple[float, float]]]
"""Points of curves by their labels."""


def draw(line: Line, path: Path) -> None:
    """Rows of panels: figure 2; figures 3a, 4a; figures 3b, 4b and 5."""
    values = {figure.name: figure.value for figure in line.figures}
    canvas = Canvas(figsize=(16, 11), layout="constrained")
    rows = canvas.subplots(3, 4)
    problems = sorted({(m[1], m[2]) for m, _ in _found(CURVE, values)}, key=lambda p: p[::-1])
    for panel, (problem, space) in zip(rows[0], problems, strict=False):
        _plot(panel, figure_2_curves(values, problem, space), "proportion of data used")
        panel.set_title(f"Figure 2: {problem}, {space}", fontsize="medium")
        panel.set_ylim(0, 1.02)
    for k, (name, (number, _)) in enumerate(NUMBERS.items()):
        _plot(rows[1, 2 * k], belief_curves(values, number), "steps")
        rows[1, 2 * k].set_title(f"Figure {number}a: belief, {name}", fontsize="medium")
        _plot(rows[1, 2 * k + 1], error_curves(values, number), "seconds")
        rows[1, 2 * k + 1].set_title(f"Figure {number}b: RMSE, {name}", fontsize="medium")
        rows[1, 2 * k + 1].set_xscale("log")
    _plot(rows[2, 0], time_curves(values), "steps")
    rows[2, 0].set_title("Figure 5: seconds", fontsize="medium")
    _plot(rows[2, 1], slope_curve(values), "rows of a minibatch")
    rows[2, 1].set_title("Figure 5: milliseconds of a step", fontsize="medium")
    for panel in (*rows[0, len(problems) :], *rows[2, 2:]):
        panel.set_axis_off()
    canvas.suptitle(f"Experiments of the VBKS paper, {line.cores} cores, {line.date[:10]}")
    canvas.savefig(path, dpi=100)


def figure_2_curves(values: dict[str, float], problem: str, space: str) -> Points:
    """Median belief in the true kernel against data used; what `vbks.fit` believes at the end."""
    curves: Points = {}
    for found, value in (*_found(CURVE, values), *_found(END, values)):
        if found[1] == problem and found[2] == space:
            curves.setdefault(found[3], []).append((float(found[4] or 1.0), value))
    return curves


def belief_curves(values: dict[str, float], number: int) -> Points:
    """Belief in kernels against steps."""
    curves: Points = {}
    for found, value in _found(BELIEF, values):
        if int(found[1]) == number:
            curves.setdefault(found[2], []).append((float(found[3]), value))
    return curves


def error_curves(values: dict[str, float], number: int) -> Points:
    """Errors of methods against time."""
    curves: Points = {}
    for method in METHODS:
        place = 0
        while (name := f"{error_name(number, method, place)}: RMSE, mean") in values:
            seconds = values[f"{error_name(number, method, place)}: time, mean"]
            curves.setdefault(method, []).append((seconds, values[name]))
            place += 1
    return curves


def time_curves(values: dict[str, float]) -> Points:
    """Seconds against steps."""
    curves: Points = {}
    for found, value in _found(TIMES, values):
        curves.setdefault(f"B={found[1]}", []).append((float(found[2]), value))
    return curves


def slope_curve(values: dict[str, float]) -> Points:
    """Milliseconds of a step against rows of a minibatch."""
    points = [(float(found[1]), value) for found, value in _found(SLOPES, values)]
    return {"slope": points} if points else {}


def _found(pattern: str, values: dict[str, float]) -> Iterator[tuple[re.Match[str], float]]:
    for name, value in values.items():
        match = re.fullmatch(pattern, name)
        if match:
            yield match, value


def _plot(panel: Axes, curves: Points, label: str) -> None:
    for name, points in curves.items():
        panel.plot(*zip(*points, strict=True), "o-", ms=3, label=name)
    panel.set_xlabel(label)
    panel.grid(alpha=0.3)
    if curves:
        panel.legend(fontsize="x-small")
