from __future__ import annotations

import gpflow
import numpy as np
import pytest
from benchmarks.door.figure import Figure
from benchmarks.door.record import Line, newest
from benchmarks.paper import STARTS
from benchmarks.paper_experiments import figure_2, figure_5, figures_3_4, panels
from benchmarks.paper_experiments.constants import count_until_lost, first_that_suffices
from benchmarks.paper_experiments.figure_5 import line_through
from benchmarks.paper_experiments.problems import (
    AMPLITUDE,
    PERIOD,
    PRODUCT,
    SLOPE,
    SUM,
    Constants,
    draw_rows,
    outward,
    prepared,
)
from benchmarks.paper_experiments.training import Sizes, stops, watched

import vbks
from vbks.search.paper import BeliefRecord

SOME = Constants(per_lengthscale=1.5, rq_lengthscale=2.0, rq_alpha=0.5, noise=0.1)


def gpflow_kernel(is_product: bool) -> gpflow.kernels.Kernel:
    """The true kernels as GPflow has them; the lengthscale of its PER is half of ours."""
    base = gpflow.kernels.SquaredExponential(AMPLITUDE**2, 0.5 * SOME.per_lengthscale)
    per = gpflow.kernels.Periodic(base, PERIOD)
    rq = gpflow.kernels.RationalQuadratic(AMPLITUDE**2, SOME.rq_lengthscale, SOME.rq_alpha)
    line = gpflow.kernels.Linear(SLOPE**2)
    return per * rq * line if is_product else (per + rq) * line


@pytest.mark.parametrize("problem", (PRODUCT, SUM), ids=lambda problem: problem.text)
def test_covariance__is_that_of_gpflow(problem):
    x, z = np.random.default_rng(0).uniform(-10, 10, (2, 7))
    ours = problem.covariance(SOME, x, z)
    theirs = gpflow_kernel(problem.is_product)(x[:, None], z[:, None]).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("problem", (PRODUCT, SUM), ids=lambda problem: problem.text)
def test_rows__are_means_without_noise(problem):
    """Means given the drawn function are a smooth function of the inputs, and zero at zero."""
    X, y = draw_rows(problem, SOME, np.random.default_rng(3), num_rows=400)
    assert X.shape == (400, 1)
    assert X.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.mean(y**2) == pytest.approx(1.0)
    order = np.argsort(X[:, 0])
    x, y = X[order, 0], y[order]
    between = np.interp(x[1:-1:2], x[::2], y[::2])
    assert np.sqrt(np.mean((y[1:-1:2] - between) ** 2)) < 0.05
    assert abs(np.interp(0.0, x, y)) < 0.05


def test_rows__follow_from_the_random_numbers():
    first, again, other = (
        draw_rows(PRODUCT, SOME, np.random.default_rng(seed), 20)[1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_prepared_rows__keep_their_targets_and_the_zero_of_their_inputs():
    X, y = draw_rows(PRODUCT, SOME, np.random.default_rng(0), 50)
    rows = prepared((X, y))
    Xs, ys = rows.arrays()
    np.testing.assert_allclose(ys, y)
    np.testing.assert_allclose(Xs, X / X.std(), atol=1e-12)


def test_outward__begins_at_the_first_values_and_has_all_combinations_once():
    found = outward((1.0, 2.0, 3.0), (10.0, 20.0))
    assert found[:4] == ((1.0, 10.0), (1.0, 20.0), (2.0, 10.0), (2.0, 20.0))
    assert len(set(found)) == len(found) == 6


@pytest.mark.parametrize("problem", (PRODUCT, SUM), ids=lambda problem: problem.text)
def test_grid__begins_with_what_the_paper_prints(problem):
    assert problem.constants[0].per_lengthscale == 2.0
    assert len(set(problem.constants)) == len(problem.constants)
    assert problem.truth in {figure_2.canonical(member) for member in vbks.K12}


def grid_of(*noises: float) -> list[Constants]:
    return [Constants(2.0, 2.0, 1.0, noise) for noise in noises]


def test_choice__is_the_first_that_suffices():
    counts = {0.1: (7, 10), 0.2: (9, 10), 0.3: (10, 10)}
    choice = first_that_suffices(grid_of(*counts), lambda own: counts[own.noise])
    assert (choice.constants.noise, choice.num_first, choice.num_tried) == (0.2, 9, 2)
    assert choice.suffices


def test_choice__is_the_best_if_none_suffices_and_says_so():
    counts = {0.1: (2, 4), 0.2: (8, 10), 0.3: (0, 2)}
    choice = first_that_suffices(grid_of(*counts), lambda own: counts[own.noise])
    assert (choice.constants.noise, choice.num_tried, choice.suffices) == (0.2, 3, False)


@pytest.mark.parametrize(
    ("lost", "expected"), [((), (10, 10)), ((3,), (9, 10)), ((0, 1), (0, 2)), ((1, 4), (4, 6))]
)
def test_count__ends_where_too_many_are_lost(lost, expected):
    made = []

    def is_first(number: int) -> bool:
        made.append(number)
        return number not in lost

    assert count_until_lost(is_first, 10, 9, at_once=2) == expected
    assert made == list(range(expected[1]))


def test_line__explains_points_on_it_and_few_others():
    line = line_through([1, 2, 3, 4], [5.0, 7.0, 9.0, 11.0])
    assert (line.slope, line.intercept) == (pytest.approx(2.0), pytest.approx(3.0))
    assert line.r_squared == pytest.approx(1.0)
    x, y = np.arange(6.0), np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0])
    slope, intercept = np.polyfit(x, y, 1)
    left = np.sum((y - slope * x - intercept) ** 2) / np.sum((y - y.mean()) ** 2)
    assert line_through(x, y).r_squared == pytest.approx(1.0 - left)


def test_splits__hold_out_a_fifth_and_leave_rows_that_no_run_holds_out():
    tests = figures_3_4.held_out(1000, 5, np.random.default_rng(0))
    assert [len(np.unique(test)) for test in tests] == [200] * 5
    assert len({tuple(test) for test in tests}) == 5
    common = figures_3_4.never_held_out(1000, tests)
    assert all(len(np.intersect1d(common, test)) == 0 for test in tests)
    assert len(common) + len(np.unique(np.concatenate(tests))) == 1000


def test_shown_kernels__were_ever_among_the_first():
    names = ("a", "b", "c", "d", "e")
    early = BeliefRecord(1, 0.0, 0.1, names, np.zeros(5), np.array([0.5, 0.2, 0.2, 0.1, 0.0]))
    late = BeliefRecord(2, 0.0, 0.2, names, np.zeros(5), np.array([0.3, 0.1, 0.1, 0.5, 0.0]))
    shown = figures_3_4.shown_kernels([early, late])
    assert shown[:2] == ["d", "a"]
    assert set(shown) == {"a", "b", "c", "d"}


def test_stops__pass_through_what_one_training_ends_with():
    """Training in two parts ends where the preset's own training ends."""
    rows = prepared(draw_rows(SUM, SOME, np.random.default_rng(0), 60))
    settings, sizes = vbks.PaperSettings(steps=6, every=3, value_batches=4), Sizes(8, 16)
    kernels = [vbks.parse("SE"), vbks.parse("LIN * PER")]
    whole = watched(rows, kernels, settings, sizes, seed=0)
    early, late = stops(rows, kernels, settings, sizes, 0, (3, 6))
    for stop, record in zip((early, late), whole.belief_history, strict=True):
        assert stop.steps == record.step
        elbos = {str(fit.expression): fit.elbo for fit in stop.selection.fits}
        np.testing.assert_allclose([elbos[e] for e in record.expressions], record.elbos, rtol=1e-8)
    assert 0.0 < early.seconds < late.seconds
    x = np.linspace(-9.0, 9.0, 5)[:, np.newaxis]
    np.testing.assert_allclose(
        late.selection.predict_y(x)[0], whole.predict_y(x)[0], rtol=1e-6, atol=1e-9
    )


def test_panels__find_curves_by_the_names_of_figures():
    problem = "PER * LIN * RQ"
    where = figure_2.name_of(problem, "K12", "paper, M=16")
    default = figure_2.name_of(problem, "K12", "vbks.fit")
    values = {
        figure_2.point_name(where, 0.5): 0.3,
        figure_2.point_name(where, 1.0): 0.6,
        f"{default}: belief in it at the end, mean": 0.9,
        figures_3_4.belief_name(3, "PER + LIN * (SE + RQ)", 40): 0.2,
        f"{figures_3_4.error_name(4, 'BO', 0)}: RMSE, mean": 1.5,
        f"{figures_3_4.error_name(4, 'BO', 0)}: time, mean": 12.0,
        figure_5.point_name(32, 25): 1.25,
        "Figure 5, B=32: time of a step": 50.0,
    }
    assert panels.figure_2_curves(values, problem, "K12") == {
        "paper, M=16": [(0.5, 0.3), (1.0, 0.6)],
        "vbks.fit": [(1.0, 0.9)],
    }
    assert panels.belief_curves(values, 3) == {"PER + LIN * (SE + RQ)": [(40.0, 0.2)]}
    assert panels.error_curves(values, 4) == {"BO": [(12.0, 1.5)]}
    assert panels.time_curves(values) == {"B=32": [(25.0, 1.25)]}
    assert panels.slope_curve(values) == {"slope": [(32.0, 50.0)]}
    assert panels.belief_curves(values, 4) == panels.error_curves(values, 3) == {}


def test_picture__is_drawn_from_whatever_a_run_has(tmp_path):
    where = figure_2.name_of("PER * LIN * RQ", "K12", "paper, M=16")
    names = {figure_2.point_name(where, 0.5): 0.3, figures_3_4.belief_name(3, "SE", 40): 0.2}
    figures = tuple(Figure(name, value, "") for name, value in names.items())
    for own in (figures, ()):
        line = Line("paper", own, {}, 2, 0, 1.0, False, "2026-01-01T00:00:00")
        panels.draw(line, tmp_path / f"{len(own)}.png")
        assert (tmp_path / f"{len(own)}.png").read_bytes().startswith(b"\x89PNG")


def line_with(*names: str) -> Line:
    figures = tuple(Figure(name, float(k), "") for k, name in enumerate(names))
    return Line("paper", figures, {}, 2, 0, 1.0, False, "2026-01-01T00:00:00")


def test_newest__has_the_figures_of_a_part_from_its_last_record() -> None:
    old = line_with("Figure 5, B=32: time of a step", "Figure 3b, BO", "Table 2, run 1")
    new = line_with("Table 2, run 1", "Figure 4b, BO")
    assert [f.name for f in newest([old, new], STARTS["swissgrid"])] == ["Table 2, run 1"]
    assert newest([old, new], STARTS["figure-5"]) == [old.figures[0]]
    assert newest([old, new], STARTS["sum"]) == []


def test_parts__begin_differently() -> None:
    starts = [start for own in STARTS.values() for start in own]
    assert not any(a != b and a.startswith(b) for a in starts for b in starts)
