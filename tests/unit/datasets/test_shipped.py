from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from vbks.datasets.dataset import Dataset
from vbks.datasets.shipped import airline, mauna_loa


@pytest.mark.parametrize("load", [airline, mauna_loa])
def test_shipped__is_finite_and_in_the_order_of_time(load: Callable[[], Dataset]) -> None:
    data = load()
    assert data.X.shape == (len(data.y), 1)
    assert np.isfinite(data.y).all()
    assert (np.diff(data.X[:, 0]) > 0).all()
    assert data.source.endswith(".")


def test_airline__is_series_g() -> None:
    data = airline()
    assert data.y[[0, -1]].tolist() == [112, 432]
    assert data.y.sum() == 40363
    assert data.X[[0, 6, -1], 0] == pytest.approx([1949, 1949.5, 1960 + 11 / 12])


def test_mauna_loa__leaves_out_the_months_without_a_measurement() -> None:
    data = mauna_loa()
    months = np.round((data.X[:, 0] - 1958) * 12).astype(int)
    gaps = set(range(months[0], months[-1] + 1)) - set(months)
    assert gaps == {5, 9, 73, 74, 75}
    assert data.y[0] == pytest.approx(316.1)
