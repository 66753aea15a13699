"""`vbks predict`: what a saved selection expects at other inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vbks.ui.options import (
    DateFormat,
    DecimalMark,
    Encoding,
    Folder,
    Json,
    Sep,
    Sheet,
    file_settings,
)
from vbks.ui.paths import TABLES, refuse_file, refuse_without_selection
from vbks.ui.table_files import rounded, write_table
from vbks.ui.terminal import Terminal, records, write
from vbks.ui.working import loading

if TYPE_CHECKING:
    import pandas as pd

    from vbks.data.files.opening import FileTable
    from vbks.selection.selection import Selection

QUANTILES = {"q05": 0.05, "q50": 0.5, "q95": 0.95}
"""Columns of predictions: the median and a 90 % interval around it."""

AMONG_INPUTS = "predicted_"
"""This stands before the name of a prediction where an input has that name already."""


def predict(
    folder: Folder,
    data: Annotated[
        Path,
        typer.Argument(help="A table with the inputs to predict at: CSV, .xlsx or Parquet."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV or JSON file. By default CSV to the terminal."),
    ] = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    json: Json = False,
) -> None:
    """Predict the target for another table: mean, standard deviation and quantiles."""
    from vbks.data.files.opening import open_file

    refuse_without_selection(folder)
    refuse_file(out, TABLES, force)
    table = open_file(data, file_settings(sep, decimal, date_format, encoding, sheet))
    with loading("Predicting"):
        from vbks.selection.loading import load

        predictions = _predictions(load(folder), table)
    if out is not None:
        write_table(predictions, out)
    elif json:
        Terminal(json).answer({"predictions": records(predictions)})
    else:
        write(predictions.to_csv(index=False))


def _predictions(selection: Selection, table: FileTable) -> pd.DataFrame:
    """The inputs, dates as they came, beside what is predicted there."""
    from vbks.data.files.choosing import read_inputs

    X = read_inputs(table, selection.feature_names, selection.num_inputs)
    dates = map(str, X.select_dtypes("datetimetz"))
    given = {name: table.cells(name).to_numpy() for name in dates}
    inputs = X.convert_dtypes(
        convert_string=False, convert_boolean=False, convert_floating=False
    ).assign(**given)
    mean, variance = selection.predict_y(X)
    quantiles = selection.predict_quantiles(X, tuple(QUANTILES.values()))
    found = {"mean": mean, "sd": variance**0.5, **dict(zip(QUANTILES, quantiles.T, strict=True))}
    columns = {_beside(name, inputs): rounded(values) for name, values in found.items()}
    whole: pd.DataFrame = inputs.assign(**columns)
    return whole


def _beside(name: str, inputs: pd.DataFrame) -> str:
    """The name of a prediction, which is none of the inputs'."""
    while name in inputs.columns:
        name = f"{AMONG_INPUTS}{name}"
    return name
