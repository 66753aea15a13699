"""Options that several commands have, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from vbks.data.files.settings import FileSettings

MethodName = Literal["vbks", "cks", "skc", "abcd", "bo", "random"]
"""The same names as in `vbks.search.METHODS`, which takes seconds to import."""

LikelihoodName = Literal[
    "gaussian", "student_t", "poisson", "bernoulli", "beta", "gamma", "exponential"
]
"""The same names as of `vbks.inference.likelihoods`, which takes seconds to import, too."""

PresetName = Literal["fast", "medium", "best", "paper"]
"""Names of what `vbks.fit` takes as a preset."""

DataFile = Annotated[
    Path, typer.Argument(help="A table with a header: CSV, a workbook (.xlsx) or Parquet.")
]

Sep = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What is between cells: ; or tab. By default found."),
]

DecimalMark = Annotated[
    Literal[".", ","] | None,
    typer.Option("--decimal", help="What is before the decimals of numbers. By default found."),
]

DateFormat = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="How dates are written, such as dd/mm/yyyy or %d/%m/%Y."),
]

Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="How letters are stored, such as cp1252. By default found."),
]

Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="The sheet of a workbook, or its number.")
]

MissingRows = Annotated[
    Literal["refuse", "drop"],
    typer.Option("--missing", help="What becomes of rows with missing values."),
]

InputColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="An input; may be repeated. By default all numbers and dates."
    ),
]

TargetColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The target. By default the last of numbers.")
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


def file_settings(
    sep: str | None = None,
    decimal: str | None = None,
    date_format: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
) -> FileSettings:
    """What is asked for when a file is read."""
    from vbks.data.files.settings import FileSettings

    return FileSettings(sep, decimal, date_format, encoding, sheet, missing)
