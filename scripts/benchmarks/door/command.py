"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.door.catalogue import catalogue, load
from benchmarks.door.figure import Context

__all__ = ["main"]


def main(results: Path, arguments: Sequence[str] | None = None) -> None:
    """List the benchmarks, or run one and leave its record and picture in `results`."""
    known = catalogue()
    parser = _parser(known)
    asked = parser.parse_args(arguments)
    console = Console()
    if asked.name == "list":
        for name, sentence in known.items():
            console.print(f"{name:12} {sentence}", highlight=False, markup=False, soft_wrap=True)
        return
    from benchmarks.door.session import run  # matplotlib is slow to import

    benchmark = load(asked.name)
    parts = getattr(benchmark, "PARTS", ())
    if asked.part is not None and asked.part not in parts:
        known_parts = f"its parts are: {', '.join(parts)}" if parts else "it has no parts"
        parser.error(f"--part {asked.part}: '{asked.name}' has no such part, {known_parts}")
    context = Context(asked.quick, asked.full, asked.data, asked.seed, asked.part)
    run(asked.name, benchmark, context, results, console)


def _parser(known: dict[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Run one benchmark.")
    names = ["list", *known]
    parser.add_argument("name", choices=names, metavar="NAME", help=f"one of: {', '.join(names)}")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    size.add_argument("--full", action="store_true", help="larger sizes, where there are some")
    parser.add_argument("--data", type=_folder, metavar="DIR", help="the folder of real data")
    parser.add_argument("--part", help="only this part, of a benchmark that has several")
    parser.add_argument("--seed", type=int, default=0, help="for all random numbers")
    return parser


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{text}'")
    return path
