"""`vbks predict`: what a saved selection expects at other inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vbks.errors import FileError
from vbks.ui.paths import is_selection, refuse_existing
from vbks.ui.tensorflow import import_tensorflow

if TYPE_CHECKING:
    from vbks.selection.selection import Selection

QUANTILES = {"q05": 0.05, "q50": 0.5, "q95": 0.95}
"""Columns of predictions: the median and a 90 % interval around it."""

DIGITS = 8
"""Significant digits of predictions in a file."""


def predict(
    folder: Annotated[Path, typer.Argument(help="What `vbks fit` has saved.")],
    data: Annotated[Path, typer.Argument(help="A CSV file with the inputs to predict at.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write. By default to the terminal."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Predict the target for another table: mean, standard deviation and quantiles."""
    from vbks.data.csv_files import read_csv

    table = read_csv(data)
    if not is_selection(folder):
        raise FileError(f"'{folder}' holds no saved selection. Give a folder of `vbks fit`.")
    if out is not None:
        refuse_existing(out, force)
    import_tensorflow()
    from vbks.selection.loading import load

    predictions = _predictions(load(folder), table).to_csv(index=False)
    if out is None:
        typer.echo(predictions, nl=False)
    else:
        out.write_text(predictions, encoding="utf-8")


def _predictions(selection: Selection, table: Any) -> Any:
    """The inputs as they came, beside what is predicted there."""
    from vbks.data.csv_files import choose_inputs, with_dates

    num_inputs = next(iter(selection.data.values())).num_inputs
    inputs = table[choose_inputs(table, selection.feature_names, num_inputs)]
    X = with_dates(inputs)
    mean, variance = selection.predict_y(X)
    quantiles = selection.predict_quantiles(X, tuple(QUANTILES.values()))
    found = {"mean": mean, "sd": variance**0.5, **dict(zip(QUANTILES, quantiles.T, strict=True))}
    return inputs.assign(
        **{name: [float(f"{value:.{DIGITS}g}") for value in found[name]] for name in found}
    )
