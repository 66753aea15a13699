"""One run of one benchmark, from the measurement to the picture."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.door import picture, record
from benchmarks.door.figure import Benchmark, Context, Figure

__all__ = ["RECORD", "run"]

RECORD = "results.jsonl"

MARKS = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}


def run(
    name: str, benchmark: Benchmark, context: Context, results: Path, console: Console
) -> record.Line:
    """Measure, print and record; draw too, unless the run was a quick one."""
    start = time.perf_counter()
    figures = benchmark.run(context)
    line = record.line_of(name, figures, context, seconds=time.perf_counter() - start)
    record.append(line, results / RECORD)
    console.print(_table(line))
    for missing in line.left_out:
        console.print(f"left out: {escape(missing)}", highlight=False)
    if context.quick:
        console.print("A quick run: recorded, not drawn. Its figures only show that it runs.")
    elif line.figures:
        _draw(name, benchmark, results)
    return line


def _draw(name: str, benchmark: Benchmark, results: Path) -> None:
    lines = [ln for ln in record.read(results / RECORD) if ln.name == name and not ln.quick]
    draw = getattr(benchmark, "draw", picture.draw)
    draw(lines, results / f"{name}.png")


def _table(line: record.Line) -> Table:
    table = Table(
        "figure", "value", "asked", "met", "others", title=f"{line.name}: {line.seconds:.1f} s"
    )
    for figure in line.figures:
        table.add_row(*_cells(figure))
    return table


def _cells(figure: Figure) -> tuple[str, ...]:
    value = f"{figure.value:.4g} {figure.unit}"
    texts = [escape(text or "") for text in (figure.name, value, figure.asked, figure.others)]
    return (texts[0], texts[1], texts[2], MARKS[figure.met], texts[3])
