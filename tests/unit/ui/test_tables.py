"""What the command line shows."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import vbks
from vbks.selection.selection import Selection
from vbks.ui.tables import belief_table


@pytest.fixture(scope="module")
def selection() -> Selection:
    x = np.linspace(0.0, 1.0, 20)
    return vbks.fit(
        x, np.sin(6.0 * x), space=("SE", "LIN"), warps=("identity",), restarts=2, progress=False
    )


def printed(selection: Selection) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(belief_table(selection))
    return console.export_text()


def test_belief_table__has_the_belief_in_all_that_were_fitted(selection: Selection) -> None:
    text = printed(selection)
    assert f"{selection.belief['probability'].iloc[0]:.3f}" in text
    assert "~" not in text


def test_belief_table__tells_dropped_candidates_from_those_that_are_not_believed(
    selection: Selection,
) -> None:
    fits = [
        replace(f, status="dropped") if str(f.expression) == "LIN" else f for f in selection.fits
    ]
    text = printed(replace(selection, fits=tuple(fits)))
    (row,) = (line for line in text.splitlines() if "LIN" in line)
    assert "~" in row
    assert "0.000" not in row
    assert "not fitted to the end" in text
