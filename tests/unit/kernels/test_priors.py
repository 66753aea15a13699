from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.errors import DataError, GrammarError
from vbks.kernels.layout import lay_out
from vbks.kernels.parameters import FlatPrior, MixturePrior, NormalPrior, Prior, StudentTPrior
from vbks.kernels.priors import Priors, slot_priors

NORMAL = NormalPrior(-0.7, 1.5)
STUDENT_T = StudentTPrior(0.3, 2.0, 4.0)
MIXTURE = MixturePrior((NormalPrior(-2.0, 0.5), NormalPrior(1.0, 0.2)))
PROPER = (NORMAL, STUDENT_T, MIXTURE)

X = np.linspace(-8.0, 8.0, 41)

LINE = (InputSummary(-1.5, 2.0, 0.01),)
NUM_ROWS = 350


def scipy_density(prior: Prior, x: Array) -> Array:
    match prior:
        case NormalPrior(mean, sd):
            return stats.norm.pdf(x, mean, sd)
        case StudentTPrior(mean, scale, df):
            return stats.t.pdf(x, df, mean, scale)
        case MixturePrior(parts):
            return np.mean([scipy_density(part, x) for part in parts], axis=0)
    raise AssertionError(prior)


def skc(text: str, num_inputs: int = 1, ard: bool = True) -> dict[str, Prior]:
    layout = lay_out(text, num_inputs, ard)
    summaries = [InputSummary(-1.5 - d, 2.0, 0.01) for d in range(num_inputs)]
    return dict(zip(layout.names, slot_priors(layout, "skc", summaries, NUM_ROWS), strict=True))


@pytest.mark.parametrize("prior", PROPER)
def test_log_density__is_that_of_scipy(prior: Prior) -> None:
    value, _ = prior.log_density(X)
    np.testing.assert_allclose(value, np.log(scipy_density(prior, X)), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("prior", [*PROPER, FlatPrior()])
def test_slope__is_that_of_differences(prior: Prior) -> None:
    up, down = prior.log_density(X + 1e-5)[0], prior.log_density(X - 1e-5)[0]
    _, slope = prior.log_density(X)
    np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("prior", [NORMAL, STUDENT_T, FlatPrior(), MixturePrior((NORMAL,))])
def test_precision__is_minus_the_curvature_at_the_centre(prior: Prior) -> None:
    _, slopes = prior.log_density(prior.centre + np.array([-1e-5, 1e-5]))
    assert prior.precision == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6)


def test_mixture__is_as_wide_as_its_widest_part() -> None:
    assert MIXTURE.precision == pytest.approx(1 / 0.5**2)
    assert MIXTURE.centre == pytest.approx(-0.5)


def test_mixture__has_a_density_far_from_all_parts() -> None:
    value, slope = MIXTURE.log_density(np.array([-1e3, 1e3]))
    np.testing.assert_allclose(value, [-0.5 * 1996**2, -0.5 * 2004**2], rtol=1e-5)
    np.testing.assert_allclose(slope, [998 / 0.25, -1002 / 0.25], rtol=1e-10)


@pytest.mark.parametrize("prior", PROPER)
def test_draws__have_the_density(prior: Prior) -> None:
    assert not isinstance(prior, FlatPrior)
    draws = prior.draw((np.arange(20_000) + 0.5) / 20_000)
    shares, edges = np.histogram(draws, np.linspace(-6.0, 6.0, 25))
    for share, low, high in zip(shares / len(draws), edges[:-1], edges[1:], strict=True):
        inside = np.linspace(low, high, 201)
        assert share == pytest.approx(trapezoid(scipy_density(prior, inside), inside), abs=2e-4)


def test_flat__has_no_preference() -> None:
    value, slope = FlatPrior().log_density(X)
    np.testing.assert_array_equal([value, slope], np.zeros((2, len(X))))


ROWS: list[tuple[Prior, ...]] = [
    (NORMAL, STUDENT_T, FlatPrior()),
    (NormalPrior(2.0, 0.1),),
    (MIXTURE, NORMAL, STUDENT_T, MIXTURE),
    (FlatPrior(), FlatPrior()),
]


def test_priors__add_up_the_densities_of_each_row() -> None:
    priors = Priors(ROWS, num_slots=5)
    theta = np.random.default_rng(0).normal(size=(4, 5))
    value, gradient = priors.log_density(np.arange(4), theta)
    for row, own in enumerate(ROWS):
        pairs = [prior.log_density(x) for prior, x in zip(own, theta[row], strict=False)]
        expected = np.array(pairs).reshape(-1, 2)
        assert value[row] == pytest.approx(expected[:, 0].sum(), abs=1e-12)
        np.testing.assert_allclose(gradient[row, : len(own)], expected[:, 1], atol=1e-12)
        np.testing.assert_array_equal(gradient[row, len(own) :], 0.0)


def test_some_rows__are_as_among_all() -> None:
    priors = Priors(ROWS, num_slots=5)
    theta = np.random.default_rng(0).normal(size=(4, 5))
    value, gradient = priors.log_density(np.arange(4), theta)
    rows = np.array([3, 0, 2])
    some, some_gradient = priors.log_density(rows, theta[rows])
    np.testing.assert_array_equal(some, value[rows])
    np.testing.assert_array_equal(some_gradient, gradient[rows])


def test_padding__is_not_used() -> None:
    priors = Priors(ROWS, num_slots=5)
    np.testing.assert_array_equal(priors.used.sum(axis=1), [3, 1, 4, 2])
    np.testing.assert_array_equal(priors.mean[~priors.used], 0.0)
    np.testing.assert_array_equal(priors.precision[~priors.used], 0.0)
    np.testing.assert_array_equal(priors.mean[0], [NORMAL.mean, STUDENT_T.mean, 0, 0, 0])
    expected = [NORMAL.precision, STUDENT_T.precision, 0, 0, 0]
    np.testing.assert_array_equal(priors.precision[0], expected)
    theta = np.zeros((1, 5))
    moved = theta + ~priors.used[1]
    rows = np.array([1])
    assert priors.log_density(rows, theta)[0] == priors.log_density(rows, moved)[0]


def test_vbks_priors__are_those_of_the_layout() -> None:
    layout = lay_out("SE * PER + CP[1](LIN, RQ) + WN")
    priors = Priors([slot_priors(layout)], len(layout))
    np.testing.assert_array_equal(priors.mean[0], layout.prior_mean)
    np.testing.assert_allclose(priors.precision[0], layout.prior_sd**-2)


def test_skc_priors__are_those_of_the_paper() -> None:
    priors = skc("SE + LIN + PER + WN * LIN")
    assert priors[".noise"] == NormalPrior(0.0, math.sqrt(0.2))
    assert priors[".kernels[0].variance"] == FlatPrior()
    assert priors[".kernels[0].lengthscales"] == NormalPrior(0.0, 0.1)
    assert priors[".kernels[1].variance"] == FlatPrior()
    assert priors[".kernels[1].location"] == FlatPrior()
    assert priors[".kernels[2].variance"] == FlatPrior()
    assert priors[".kernels[2].lengthscales"] == StudentTPrior(0.0, 1.0, 4.0)
    assert priors[".kernels[3].kernels[0].noise"] == NormalPrior(0.0, math.sqrt(0.2))


def test_skc_period__is_about_ten_steps_or_a_fifth_of_the_range() -> None:
    period = skc("PER")[".period"]
    assert isinstance(period, MixturePrior)
    short, long = period.parts
    assert short.mean == pytest.approx(math.log(10 * 3.5 / NUM_ROWS) - 0.5)
    assert long.mean == pytest.approx(math.log(3.5 / 5) - 2.0)
    assert (short.sd**2, long.sd**2) == pytest.approx((0.25, 0.5))


def test_skc_period__is_about_its_own_input() -> None:
    priors = skc("PER * SE[1]", num_inputs=2)
    shifts = {
        b.mean - a.mean
        for a, b in zip(
            priors[".kernels[0].period[0]"].parts,
            priors[".kernels[0].period[1]"].parts,
            strict=True,
        )
    }
    np.testing.assert_allclose(list(shifts), math.log(4.5 / 3.5))
    shared = skc("PER", num_inputs=2, ard=False)[".period"]
    assert shared == priors[".kernels[0].period[1]"]


def test_skc_priors__keep_what_the_paper_does_not_have() -> None:
    text = "RQ + C + CP[1](RQ, PER0) * (RQ + C)"
    layout = lay_out(text)
    assert tuple(skc(text).values())[1:] == slot_priors(layout, summaries=LINE)[1:]


def test_skc_period__needs_the_data() -> None:
    with pytest.raises(DataError, match=r"'PER' needs summaries of 1 inputs .*, got 0 summaries"):
        slot_priors(lay_out("PER"), "skc")
    with pytest.raises(DataError, match="got 1 summaries and num_rows=0"):
        slot_priors(lay_out("PER"), "skc", LINE)


def test_unknown_preset__is_named() -> None:
    with pytest.raises(GrammarError, match=r"unknown priors 'weak'. Known: flat, skc, vbks"):
        slot_priors(lay_out("SE"), "weak")


def test_flat_priors__are_ours_but_ten_times_wider() -> None:
    layout = lay_out("SE * PER + LIN")
    ours, flat = slot_priors(layout), slot_priors(layout, "flat")
    for narrow, wide in zip(ours, flat, strict=True):
        assert wide.mean == narrow.mean
        assert wide.sd == pytest.approx(10.0 * narrow.sd)


def period_prior_of(*summaries: InputSummary, text: str = "PER", preset: str = "vbks") -> Prior:
    layout = lay_out(text, len(summaries))
    slot = next(k for k, name in enumerate(layout.names) if "period" in name)
    return slot_priors(layout, preset, summaries)[slot]


def test_period_prior__has_two_sds_to_two_spacings_and_to_the_range() -> None:
    for spacing in (0.1, 0.01, 0.0001):
        prior = period_prior_of(InputSummary(-1.5, 2.0, spacing))
        assert prior.mean - 2.0 * prior.sd == pytest.approx(math.log(2.0 * spacing))
        assert prior.mean + 2.0 * prior.sd == pytest.approx(math.log(3.5))


def test_period_prior__is_about_its_own_input() -> None:
    years, hours = InputSummary(-1.5, 2.0, 0.1), InputSummary(-2.0, 2.0, 0.001)
    assert period_prior_of(years, hours, text="PER[2]") == period_prior_of(hours)
    assert period_prior_of(years, hours, text="PER[1]") == period_prior_of(years)


def test_period_prior__keeps_a_width_where_there_are_few_places() -> None:
    for spacing in (0.0, 1.0, 3.5):
        prior = period_prior_of(InputSummary(-1.5, 2.0, spacing))
        assert prior.sd == 0.5
        assert prior.mean <= math.log(3.5)


def test_period_prior__without_inputs_is_the_familys() -> None:
    layout = lay_out("PER")
    assert slot_priors(layout)[layout.names.index(".period")] == NormalPrior(-1.5, 1.5)


def test_flat_prior__of_a_period_is_ten_times_wider_than_that_of_its_input() -> None:
    x = InputSummary(-1.5, 2.0, 0.01)
    ours, flat = period_prior_of(x), period_prior_of(x, preset="flat")
    assert (flat.mean, flat.sd) == (ours.mean, pytest.approx(10.0 * ours.sd))
