"""The two monthly series that come with vbks; SOURCES.md says where they are from."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from vbks.datasets.dataset import Dataset


def airline() -> Dataset:
    """Airline passengers per month, 1949 to 1960: a trend and a yearly cycle that grow together."""
    return _monthly(
        "airline",
        y_name="passengers (thousands)",
        source="Box and Jenkins, Time Series Analysis (1976), series G.",
    )


def mauna_loa() -> Dataset:
    """CO₂ in the air of Mauna Loa per month, 1958 to 2001: a smooth rise and a yearly cycle.

    Five months in which nothing was measured are left out, not filled.
    """
    return _monthly(
        "mauna_loa",
        y_name="CO₂ (ppm)",
        source="Keeling and Whorf (2004), Scripps Institution of Oceanography, weekly means.",
    )


def _monthly(name: str, y_name: str, source: str) -> Dataset:
    text = files("vbks.datasets").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    _, *rows = csv.reader(text.splitlines())
    return Dataset(
        name=name,
        X=np.array([[_year(month)] for month, _ in rows]),
        y=np.array([float(value) for _, value in rows]),
        x_names=("year",),
        y_name=y_name,
        source=source,
    )


def _year(month: str) -> float:
    """'1949-07' as 1949.5: a month stands at its first day, and all months are equally long."""
    year, number = month.split("-")
    return int(year) + (int(number) - 1) / 12
