"""Options that several commands have, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K12, K144

MethodName = Literal["vbks", "cks", "skc", "abcd", "bo", "random"]
"""The same names as in `vbks.search.METHODS`, which takes seconds to import."""

LikelihoodName = Literal[
    "gaussian", "student_t", "poisson", "bernoulli", "beta", "gamma", "exponential"
]
"""The same names as of `vbks.inference.likelihoods`, which takes seconds to import, too."""

PresetName = Literal["fast", "medium", "best", "paper"]
"""Names of what `vbks.fit` takes as a preset."""

DataFile = Annotated[Path, typer.Argument(help="A CSV file with a header.")]

InputColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="An input; may be repeated. By default all numbers and dates."
    ),
]

TargetColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The target. By default the last column.")
]

Seed = Annotated[
    int, typer.Option(min=0, metavar="NUMBER", help="All that is random follows from it.")
]


Folder = Annotated[Path, typer.Argument(help="What `vbks fit` has saved.")]

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, and nothing else.")]

Freq = Annotated[
    str | None,
    typer.Option(
        metavar="STEP",
        help="Step from one row to the next: D, B, W, M, Q, Y, h, 15min; or a number. "
        "By default found from the rows.",
    ),
]


def step_of(freq: str | None) -> str | float | None:
    """A step as `find_steps` takes it: a number where the text is one."""
    try:
        return None if freq is None else float(freq)
    except ValueError:
        return freq


def space_of(text: str) -> Literal["grow"] | tuple[Expression, ...]:
    """The space of a name or of expressions between commas."""
    if text == "grow":
        return "grow"
    named = {"K12": K12, "K144": K144}
    return named[text] if text in named else tuple(map(parse, _between_commas(text)))


def _between_commas(text: str) -> list[str]:
    """The parts of a text between its commas, but for those in brackets, which `CP` has."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
