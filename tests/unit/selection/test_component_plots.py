"""Pictures of parts: what is drawn, and what axes are called."""

import matplotlib
import numpy as np
import pytest
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure
from support.selections import make_dated, make_table

from vbks.selection.component_data import part_pictures
from vbks.selection.component_plots import plot_components

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def dated():
    return make_dated()


def test_one_input__has_the_part_the_fit_and_what_is_left(dated):
    figure = Figure(layout="constrained")
    assert dated.plot_components(figure) is figure
    figure.canvas.draw()
    num = len(part_pictures(dated).parts)
    rows = np.reshape(figure.axes, (num, 3))
    first, fit, left = rows[0]
    assert "%" in first.get_title(loc="left")
    assert first.get_ylabel() == "factor of sold" and fit.get_ylabel() == "sold"
    assert left.get_ylabel() == "left over"
    assert [ax.get_xlabel() for ax in rows[-1]] == ["month"] * 3
    assert isinstance(first.xaxis.get_major_formatter(), ConciseDateFormatter)
    labels = first.get_legend_handles_labels()[1]
    assert sorted(labels) == ["90 %", "data end", "data less other parts", "median"]


def test_residuals__are_drawn_as_they_are(dated):
    found = part_pictures(dated, num_parts=1)
    figure = plot_components(found, Figure())
    lines = figure.axes[2].collections[0].get_segments()
    np.testing.assert_allclose([line[1][1] for line in lines], found.parts[0].residuals)


def test_several_inputs__are_drawn_one_by_one_and_against_targets():
    figure = make_table().plot_components(Figure(layout="constrained"))
    figure.canvas.draw()
    assert figure.axes[0].get_xlabel() == "age"
    assert figure.axes[-1].get_xlabel() == "observed strength"


def test_without_a_figure__there_is_a_new_one(dated):
    import matplotlib.pyplot as plt

    figure = dated.plot_components(num_parts=1)
    assert figure.number in plt.get_fignums()
    plt.close(figure)
