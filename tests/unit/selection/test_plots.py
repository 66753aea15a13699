from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.errors import DataError
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.selection.plot_data import AFTER
from vbks.selection.selection import Selection

matplotlib.use("Agg")

NUM_ROWS = 20
TEXTS = ("SE", "SE * PER", "LIN", "SE + LIN", "PER")


def make_fit(text: str, num_inputs: int, evidence: float, **changes: Any) -> LocalFit:
    H = len(lay_out(text, num_inputs))
    mode = Mode(-np.eye(H)[0], np.zeros((H, H)), 1.0, evidence, 0.0, 0.0)
    fit = LocalFit(parse(text), num_inputs, NUM_ROWS, "exact", "point", H, elbo=evidence)
    return replace(fit, modes=(mode,), **changes)


def make_selection(num_inputs: int = 1, **changes: Any) -> Selection:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (NUM_ROWS, num_inputs))
    data = prepare((X, np.exp(1 + np.sin(X[:, 0]) + 0.1 * rng.normal(size=NUM_ROWS))))
    log = data.warped(Log())
    fits = [make_fit(text, num_inputs, -30.0 - k) for k, text in enumerate(TEXTS)]
    fits[1] = replace(fits[1], warp=Log(), log_jacobian=0.0)
    fits[4] = replace(fits[4], status="dropped", reason="90 nats behind")
    return Selection(tuple(fits), {Identity(): data, Log(): log}, **changes)


@pytest.fixture(scope="module")
def selection() -> Selection:
    names = [("SE", "identity"), ("SE * PER", "log"), ("LIN", "identity"), ("SE + LIN", "identity")]
    columns = pd.MultiIndex.from_tuples(names, names=["expression", "warp"])
    table = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.8, 0.06, 0.04], [0.6, 0.2, 0.15, 0.05]]
    trace = pd.DataFrame(table, pd.Index([1 / 3, 2 / 3, 1.0], name="proportion"), columns)
    return make_selection(feature_names=("price $ per $",), target_name="$", trace=trace)


@pytest.fixture
def ax() -> Iterator[Axes]:
    """Axes that `pyplot` does not know, and must not hear of."""
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    axes = Figure(layout="constrained").subplots()
    yield axes
    axes.figure.canvas.draw()
    assert plt.get_fignums() == before


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax: Axes) -> list[np.ndarray]:
    found = [c for c in ax.collections if isinstance(c, PathCollection)]
    return [np.asarray(collection.get_offsets()) for collection in found]


def test_prediction__shows_data_median_and_bands(selection: Selection, ax: Axes) -> None:
    assert selection.plot_prediction(ax) is ax
    X, y = next(selection.data[Identity()].source.blocks(NUM_ROWS))
    ((data,), (line, end)) = points(ax), ax.lines
    np.testing.assert_array_equal(data, np.column_stack([X, y]))
    assert [*end.get_xdata()] == [X.max()] * 2
    assert sum(isinstance(c, PolyCollection) for c in ax.collections) == 2
    x, median = line.get_data()
    assert x.max() == pytest.approx(X.max() + AFTER * np.ptp(X))
    expected = selection.predict_quantiles(np.asarray(x)[:, np.newaxis], [0.5])[:, 0]
    np.testing.assert_allclose(median, expected, rtol=1e-9)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"price \$ per \$", r"\$")
    assert legend(ax) == ["90 %", "50 %", "median", "data", "data end"]


def test_prediction__is_drawn_at_inputs_given_in_any_order(selection: Selection, ax: Axes) -> None:
    selection.plot_prediction(ax, Xnew=[14.0, 11.0, 12.0])
    x, median = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, [11.0, 12.0, 14.0])
    expected = selection.predict_quantiles([[11.0], [12.0], [14.0]], [0.5])[:, 0]
    np.testing.assert_allclose(median, expected, rtol=1e-9)


def test_prediction__of_several_inputs_is_against_targets(ax: Axes) -> None:
    make_selection(num_inputs=2).plot_prediction(ax)
    diagonal = ax.lines[-1].get_data()
    np.testing.assert_array_equal(*diagonal)
    assert len(ax.lines[0].get_xdata()) == NUM_ROWS
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("observed target", "predicted target")


def test_prediction__of_several_inputs_refuses_other_inputs(ax: Axes) -> None:
    with pytest.raises(DataError, match="Xnew can be drawn over one input, and there are 2"):
        make_selection(num_inputs=2).plot_prediction(ax, Xnew=[[1.0, 2.0]])


def test_prediction__shows_some_of_many_rows(selection: Selection, ax: Axes, monkeypatch) -> None:
    monkeypatch.setattr("vbks.selection.plot_data.MOST_POINTS", 7)
    selection.plot_prediction(ax)
    assert len(points(ax)[0]) == 7


def test_belief__has_a_bar_for_each_of_the_best(selection: Selection, ax: Axes) -> None:
    assert selection.plot_belief(ax, num_candidates=3) is ax
    best = selection.belief.head(3)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, best["probability"])
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["SE", "SE * PER, log", "LIN"]
    assert texts(ax) == [f"{100 * p:.1f} %" for p in best["probability"]]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_belief__shows_the_other_beliefs_as_marks(selection: Selection, ax: Axes) -> None:
    other = selection.with_belief("vbks")
    other.plot_belief(ax)
    best = other.belief[other.belief["status"] == "fitted"]
    assert legend(ax) == ["vbks", "bayes", "stacking"]
    for kind, marks in zip(("bayes", "stacking"), points(ax), strict=True):
        np.testing.assert_allclose(marks[:, 0], best[kind])


def test_belief__shows_what_was_nearly_as_good(selection: Selection, ax: Axes) -> None:
    first, *rest = selection.fits
    dropped = replace(first, status="dropped", reason="no time", most_probable=0.25)
    replace(selection, fits=(dropped, *rest)).plot_belief(ax)
    assert "at most, not fitted to the end" in legend(ax)
    assert ax.patches[-1].get_width() == pytest.approx(0.25)
    assert "≤ 25.0 %" in texts(ax)


def test_belief__leaves_out_what_was_not_fitted(selection: Selection, ax: Axes) -> None:
    selection.plot_belief(ax)
    assert len(ax.patches) == len(TEXTS) - 1


def test_belief__shortens_long_expressions(ax: Axes) -> None:
    long = " + ".join(["SE"] * 30)
    one = make_selection()
    fits = (make_fit(long, 1, -30.0), *one.fits)
    replace(one, fits=fits).plot_belief(ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert any(label.endswith("…") and len(label) <= 44 for label in labels)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.0123, "1.2 %"),
        (0.9999, "> 99.9 %"),
        (1.0, "100 %"),
    ],
)
def testshown_percent__says_neither_none_nor_all_too_early(share: float, text: str) -> None:
    from vbks.selection.plots import shown_percent

    assert shown_percent(share) == text


def test_trace__has_a_line_for_those_who_led_and_one_for_the_rest(
    selection: Selection, ax: Axes
) -> None:
    assert selection.plot_trace(ax, num_candidates=2) is ax
    assert legend(ax) == ["SE", "SE * PER, log", "2 others"]
    shares = [line.get_ydata() for line in ax.lines]
    np.testing.assert_allclose(np.sum(shares, axis=0), 1.0)
    np.testing.assert_allclose(shares[1], [0.3, 0.8, 0.2])


def test_trace__of_all_has_no_rest(selection: Selection, ax: Axes) -> None:
    selection.plot_trace(ax)
    assert legend(ax) == ["SE", "SE * PER, log", "LIN", "SE + LIN"]


def test_trace__has_to_be_asked_for(ax: Axes) -> None:
    with pytest.raises(DataError, match=r"no trace of its belief. Call vbks.fit\(..., trace=10\)"):
        make_selection().plot_trace(ax)


@pytest.mark.parametrize("plot", [Selection.plot_belief, Selection.plot_trace])
def test_num__is_at_least_one(plot: Any, selection: Selection, ax: Axes) -> None:
    with pytest.raises(DataError, match="num is 0, expected at least 1"):
        plot(selection, ax, 0)


@pytest.mark.parametrize(
    "plot", [Selection.plot_prediction, Selection.plot_belief, Selection.plot_trace]
)
def test_plot__makes_a_figure_of_its_own_if_it_has_to(plot: Any, selection: Selection) -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    ax = plot(selection)
    try:
        assert [n for n in plt.get_fignums() if n not in before] == [ax.figure.number]
        ax.figure.canvas.draw()
    finally:
        plt.close(ax.figure)
