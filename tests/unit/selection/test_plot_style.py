"""The look of pictures."""

import numpy as np
import pandas as pd
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure

from vbks.selection.plot_style import brief_dates, legend, plain, tidy


def test_plain__keeps_dollars_from_beginning_a_formula():
    assert plain("price $ per $") == r"price \$ per \$"


def test_dates__are_brief_and_numbers_are_left_alone():
    ax = Figure().subplots()
    before = ax.xaxis.get_major_formatter()
    brief_dates(ax, np.arange(3.0))
    assert ax.xaxis.get_major_formatter() is before
    brief_dates(ax, pd.Series(pd.date_range("2020-01-01", periods=3)))
    assert isinstance(ax.xaxis.get_major_formatter(), ConciseDateFormatter)


def test_tidy__leaves_two_spines():
    ax = Figure().subplots()
    ax.plot([0, 1], [0, 1], label="line")
    tidy(ax, grid="x")
    legend(ax, 1)
    assert not ax.spines["top"].get_visible() and ax.spines["left"].get_visible()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["line"]
