"""Pictures of properties show the numbers that these have."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from vbks.errors import DataError
from vbks.properties.results import Change, Cycle, Dependence, Properties, Spread, Trend
from vbks.properties.values import Density
from vbks.selection.property_plots import plot_properties
from vbks.words import Estimate

GRID = np.linspace(8.0, 16.0, 81)
BELL = Density(GRID, np.exp(-0.5 * (GRID - 12.0) ** 2) / np.sqrt(2 * np.pi), "months")


def size_of(name, **shares):
    ways = {"grows": 0.0, "shrinks": 0.0, "varies": 0.0, **shares}
    return Spread(name=name, probability=sum(ways.values()), sentence="", input="month", **ways)


def made():
    cycle = Cycle(
        name="cycle",
        probability=0.9,
        sentence="",
        input="month",
        unit="months",
        estimate=Estimate(12.0, 10.4, 13.6),
        density=BELL,
    )
    days = Density(18000.0 + GRID, BELL.density, "days")
    return Properties(
        cycle=cycle,
        trend=Trend(
            name="trend", probability=0.8, sentence="", input="month", up=0.6, down=0.2,
            density=BELL, estimate=Estimate(12.0, 10.4, 13.6), unit="kg",
        ),
        swings=size_of("swings", grows=0.7),
        change=Change(
            name="change", probability=0.4, sentence="", input="month", density=days,
            estimate=Estimate(18012.0, 18010.4, 18013.6),
            dates=(np.datetime64("2019-04-26").item(),),
        ),
        noise=None,
        inputs=(
            Dependence(name="", probability=1.0, sentence="", inputs=("month",), share=0.9),
            Dependence(name="", probability=0.3, sentence="", inputs=("$x$",), share=0.1),
        ),
        pairs=(),
    )  # fmt: skip


@pytest.fixture
def drawn():
    made_axes = []

    def draw(properties, names=None):
        made_axes.append(plot_properties(properties, names))
        return made_axes[-1]

    yield draw
    for axes in made_axes:
        plt.close(axes[0].figure)


def test_all__have_a_picture_each(drawn):
    axes = drawn(made())
    assert [ax.get_title() for ax in axes] == [
        "cycle 90.0 %",
        "trend: up 60.0 %, down 20.0 %",
        "swings along month",
        "change 40.0 %",
        "inputs that matter",
    ]
    assert len(axes[0].figure.axes) == 5


def test_density__is_drawn_where_it_is_with_its_interval(drawn):
    (ax,) = drawn(made(), "cycle")
    (line,) = ax.get_lines()
    peak = line.get_xdata()[np.argmax(line.get_ydata())]
    assert peak == pytest.approx(12.0) and ax.get_xlabel() == "period, months"
    inside = ax.collections[1].get_paths()[0].vertices[:, 0]
    assert (inside.min(), inside.max()) == (pytest.approx(10.4), pytest.approx(13.6))


def test_changes__of_dated_rows_are_drawn_along_dates(drawn):
    (ax,) = drawn(made(), ["change"])
    (line,) = ax.get_lines()
    assert np.issubdtype(np.asarray(line.get_xdata()).dtype, np.datetime64)


def test_bars__are_as_long_as_probabilities(drawn):
    swings, inputs = drawn(made(), ["swings", "inputs"])
    assert [bar.get_width() for bar in swings.patches] == [0.7, 0.0, 0.0, pytest.approx(0.3)]
    assert [bar.get_width() for bar in inputs.patches] == [1.0, 0.3]
    assert inputs.get_yticklabels()[1].get_text() == r"\$x\$"


def test_without_a_density__there_is_a_mark_or_a_word(drawn):
    own = made()
    point = replace(own.cycle, density=None, estimate=Estimate(12.0))
    none = replace(own.cycle, density=None, estimate=None, probability=0.0)
    (marked,) = drawn(replace(own, cycle=point), "cycle")
    assert marked.get_lines()[0].get_xdata()[0] == 12.0
    (empty,) = drawn(replace(own, cycle=none), "cycle")
    assert [text.get_text() for text in empty.texts] == ["none"]


def test_unknown_names__are_refused():
    with pytest.raises(DataError, match=r"no picture of 'noise'.* Known: cycle, trend, swings"):
        plot_properties(made(), "noise")
    with pytest.raises(DataError, match="name at least one"):
        plot_properties(made(), [])
