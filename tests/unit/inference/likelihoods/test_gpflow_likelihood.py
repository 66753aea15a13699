from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import gpflow
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.likelihoods import (
    Bernoulli,
    Beta,
    Exponential,
    Gamma,
    Ordinal,
    Poisson,
    StudentT,
)

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.likelihoods import scalar_checks
from vbks.inference.likelihoods.gpflow_likelihood import GPflowLikelihood
from vbks.inference.likelihoods.likelihood import SMALLEST_VARIANCE, Gaussian, Likelihood
from vbks.inference.likelihoods.registry import likelihood_names, make_likelihood

NUM_CANDIDATES, NUM_SAMPLES, NUM_ROWS = 3, 2, 5
STEP = 1e-5
"""Of central differences: their error is of the order of its square, and of 1e-16 over it."""


@dataclass(frozen=True)
class Case:
    """A GPflow likelihood, targets [B] for it, and the parameter that is learned."""

    make: Callable[[], gpflow.likelihoods.Likelihood]
    y: Array
    parameter: str | None = None


REAL = np.array([-1.3, 0.0, 0.4, 2.2, 0.7])
COUNTS = np.array([0.0, 1.0, 4.0, 2.0, 0.0])
POSITIVE = np.array([0.1, 1.5, 0.4, 3.0, 0.02])
SHARES = np.array([0.01, 0.5, 0.93, 0.2, 0.7])
CLASSES = np.array([0.0, 1.0, 1.0, 0.0, 1.0])

CASES = {
    "gaussian": Case(lambda: gpflow.likelihoods.Gaussian(0.7), REAL, "variance"),
    "gaussian by scale": Case(lambda: gpflow.likelihoods.Gaussian(scale=0.7), REAL, "scale"),
    "bernoulli": Case(Bernoulli, CLASSES),
    "bernoulli by logit": Case(lambda: Bernoulli(tf.sigmoid), CLASSES),
    "poisson": Case(lambda: Poisson(binsize=0.5), COUNTS),
    "poisson by quadrature": Case(lambda: Poisson(tf.nn.softplus), COUNTS),
    "exponential": Case(Exponential, POSITIVE),
    "exponential by quadrature": Case(lambda: Exponential(tf.nn.softplus), POSITIVE),
    "student_t": Case(lambda: StudentT(0.7, df=4.0), REAL, "scale"),
    "student_t of one element": Case(lambda: StudentT([0.7]), REAL, "scale"),
    "gamma": Case(lambda: Gamma(shape=0.7), POSITIVE, "shape"),
    "gamma by quadrature": Case(lambda: Gamma(tf.nn.softplus, 0.7), POSITIVE, "shape"),
    "beta": Case(lambda: Beta(scale=0.7), SHARES, "scale"),
}


OVER_CASES = pytest.mark.parametrize("name", CASES, ids=lambda name: name.replace(" ", "_"))


@cache
def wrapped(name: str) -> GPflowLikelihood:
    """One wrapper per case, since each compiles a function of its own."""
    return GPflowLikelihood(CASES[name].make())


def moments(*batch: int) -> list[tf.Tensor]:
    """Means and variances that differ for all rows, and noise that differs for all candidates."""
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(0.0, 0.7, batch), rng.uniform(0.1, 1.0, batch)
    noise = np.broadcast_to(rng.uniform(0.3, 2.0, (*batch[:-1], 1)), batch)
    return [tf.constant(draw) for draw in (mean, variance, noise)]


def looped(case: Case, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor) -> Array:
    """GPflow's own values, one candidate after the other with its parameter set."""
    likelihood, values = case.make(), np.zeros(mean.shape)
    for place in np.ndindex(*mean.shape[:-1]):
        if case.parameter is not None:
            parameter = getattr(likelihood, case.parameter)
            parameter.assign(np.full(parameter.shape, noise[place][0]))
        values[place] = expectations_of(likelihood, mean[place], variance[place], case.y)
    return values


def expectations_of(
    likelihood: gpflow.likelihoods.Likelihood, mean: tf.Tensor, variance: tf.Tensor, y: Array
) -> tf.Tensor:
    columns = (tf.reshape(rows, [-1, 1]) for rows in (mean, variance, y))
    return likelihood.variational_expectations(np.zeros((len(y), 0)), *columns)


@OVER_CASES
def test_expectations__have_the_values_of_gpflow_at_the_parameter_of_each_candidate(
    name: str,
) -> None:
    case, at = CASES[name], moments(NUM_CANDIDATES, NUM_SAMPLES, NUM_ROWS)
    got = wrapped(name).expectations(tf.constant(case.y), *at).value
    np.testing.assert_allclose(got, looped(case, *at), rtol=1e-10, atol=1e-10)


def check_derivatives(likelihood: Likelihood, y: tf.Tensor) -> None:
    at = moments(NUM_CANDIDATES, NUM_ROWS)
    derivatives = likelihood.expectations(y, *at)[1:]
    for number, got in enumerate(derivatives):
        up, down = list(at), list(at)
        up[number], down[number] = at[number] + STEP, at[number] - STEP
        rise = likelihood.expectations(y, *up).value - likelihood.expectations(y, *down).value
        np.testing.assert_allclose(got, rise / (2.0 * STEP), rtol=1e-6, atol=1e-8)


@OVER_CASES
def test_expectations__have_derivatives_as_finite_differences(name: str) -> None:
    check_derivatives(wrapped(name), tf.constant(CASES[name].y))


def test_expectations__without_a_parameter_do_not_depend_on_noise() -> None:
    mean, variance, noise = moments(NUM_CANDIDATES, NUM_ROWS)
    likelihood, y = GPflowLikelihood(Bernoulli()), tf.constant(CLASSES)
    got = likelihood.expectations(y, mean, variance, noise)
    np.testing.assert_array_equal(
        got.value, likelihood.expectations(y, mean, variance, 2.0 * noise).value
    )
    assert got.by_noise.shape == mean.shape
    assert not np.any(got.by_noise)


@OVER_CASES
def test_expectations__are_of_the_smallest_variance_where_rounding_made_it_negative(
    name: str,
) -> None:
    likelihood, y = wrapped(name), tf.constant(CASES[name].y)
    mean, _, noise = moments(NUM_ROWS)
    negative = likelihood.expectations(y, mean, tf.fill([NUM_ROWS], np.float64(-1e-16)), noise)
    smallest = tf.fill([NUM_ROWS], np.float64(SMALLEST_VARIANCE))
    for got, expected in zip(
        negative, likelihood.expectations(y, mean, smallest, noise), strict=True
    ):
        assert np.isfinite(got).all()
        np.testing.assert_array_equal(got, expected)


def test_expectations__of_a_certain_f_have_half_the_curvature_of_the_log_density() -> None:
    y, mean = tf.constant(REAL), tf.zeros(NUM_ROWS, tf.float64)
    variance, noise = mean + SMALLEST_VARIANCE, mean + 0.7
    got = GPflowLikelihood(StudentT(df=3.0)).expectations(y, mean, variance, noise).by_variance
    spread = 3.0 * 0.7**2
    curvature = -4.0 * (spread - REAL**2) / (spread + REAL**2) ** 2
    np.testing.assert_allclose(got, 0.5 * curvature, rtol=1e-6, atol=1e-6)


@OVER_CASES
def test_expectations__are_traced_once_for_all_numbers_of_rows_and_candidates(name: str) -> None:
    likelihood = wrapped(name)
    for batch in [(5,), (2, 5), (3, 5), (3, 2, 3), (1, 1, 1)]:
        y = tf.constant(CASES[name].y[: batch[-1]])
        got = likelihood.expectations(y, *moments(*batch))
        assert all(part.shape == batch for part in got)
    assert likelihood._evaluate.experimental_get_tracing_count() == 1


def test_parameters__beyond_the_first_stay_as_given() -> None:
    class Skewed(StudentT):
        def __init__(self) -> None:
            super().__init__(0.5)
            self.factor = gpflow.Parameter(3.0, transform=gpflow.utilities.positive())

        def _scalar_log_prob(self, X: tf.Tensor, F: tf.Tensor, Y: tf.Tensor) -> tf.Tensor:
            return self.factor * super()._scalar_log_prob(X, F, Y)

    at = moments(NUM_CANDIDATES, NUM_ROWS)
    skewed, plain = GPflowLikelihood(Skewed()), GPflowLikelihood(StudentT(0.5))
    assert skewed.parameter_name == "scale"
    np.testing.assert_allclose(
        skewed.expectations(tf.constant(REAL), *at).value,
        3.0 * plain.expectations(tf.constant(REAL), *at).value,
        rtol=1e-10,
    )


def with_scale(transform: tfp.bijectors.Bijector | None, trainable: bool = True) -> StudentT:
    likelihood = StudentT()
    likelihood.scale = gpflow.Parameter(0.4, transform=transform, trainable=trainable)
    return likelihood


@pytest.mark.parametrize(
    ("transform", "trainable"),
    [(None, True), (tfp.bijectors.Sigmoid(), True), (tfp.bijectors.Softplus(), False)],
    ids=["any sign", "bounded", "fixed"],
)
def test_parameter__that_is_not_free_and_positive_is_not_learned(
    transform: tfp.bijectors.Bijector | None, trainable: bool
) -> None:
    likelihood = GPflowLikelihood(with_scale(transform, trainable))
    assert not likelihood.has_parameter
    mean, variance, noise = moments(NUM_ROWS)
    got = likelihood.expectations(tf.constant(REAL), mean, variance, noise).value
    expected = GPflowLikelihood(StudentT()).expectations(
        tf.constant(REAL), mean, variance, 0.4 * tf.ones_like(noise)
    )
    np.testing.assert_allclose(got, expected.value, rtol=1e-10)


@OVER_CASES
def test_parameter__starts_at_the_logarithm_of_the_users_value(name: str) -> None:
    case, likelihood = CASES[name], wrapped(name)
    assert likelihood.parameter_name == case.parameter
    assert likelihood.has_parameter == (case.parameter is not None)
    expected = 0.0 if case.parameter is None else np.log(0.7)
    assert likelihood.parameter_start == pytest.approx(expected, abs=1e-12)


EDGES = np.array([-0.5, 0.8])


def test_ordinal__learns_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar_checks, "_erf_fails", lambda: False)
    case = Case(lambda: Ordinal(EDGES), np.ones(NUM_ROWS), "sigma")
    at = moments(NUM_CANDIDATES, NUM_ROWS)
    got = make_likelihood(case.make()).expectations(tf.constant(case.y), *at).value
    np.testing.assert_allclose(got, looped(case, *at), rtol=1e-10, atol=1e-10)


WRONG_TARGETS = {
    "bernoulli": (-1.0, "Row 3 has the target -1.0, but Bernoulli takes 0 or 1. Write the two"),
    "poisson": (1.5, "Row 3 has the target 1.5, but Poisson takes whole numbers from 0 on. Give"),
    "gamma": (0.0, "Row 3 has the target 0.0, but Gamma takes numbers above 0. Drop such rows"),
    "exponential": (-2.0, "Row 3 has the target -2.0, but Exponential takes numbers above 0."),
    "beta": (1.0, "Row 3 has the target 1.0, but Beta takes numbers between 0 and 1, both"),
}


@pytest.mark.parametrize("text", WRONG_TARGETS)
def test_check_targets__names_the_first_row_that_is_outside(text: str) -> None:
    wrong, message = WRONG_TARGETS[text]
    y = CASES[text].y.copy()
    y[[2, 4]] = wrong, np.nan
    with pytest.raises(DataError, match=message):
        make_likelihood(text).check_targets(y)


@pytest.mark.parametrize("wrong", [-1.0, np.inf, np.nan])
@pytest.mark.parametrize("text", WRONG_TARGETS)
def test_check_targets__refuses_what_no_count_share_or_class_can_be(
    text: str, wrong: float
) -> None:
    with pytest.raises(DataError, match=f"Row 1 has the target {wrong}"):
        make_likelihood(text).check_targets(np.array([wrong]))


@OVER_CASES
def test_check_targets__accepts_what_is_inside(name: str) -> None:
    make_likelihood(CASES[name].make()).check_targets(CASES[name].y)


def test_check_targets__knows_the_classes_of_ordinal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar_checks, "_erf_fails", lambda: False)
    likelihood = make_likelihood(Ordinal(EDGES))
    likelihood.check_targets(np.array([0.0, 1.0, 2.0]))
    with pytest.raises(DataError, match=r"3\.0, but Ordinal takes whole numbers from 0 to 2"):
        likelihood.check_targets(np.array([0.0, 3.0]))


@pytest.mark.parametrize("likelihood", [Gaussian(), make_likelihood("student_t")])
def test_pseudo_targets__are_the_targets_where_f_is_their_mean(likelihood: Likelihood) -> None:
    np.testing.assert_array_equal(likelihood.pseudo_targets(REAL), REAL)


def test_pseudo_targets__are_one_on_either_side_for_classes() -> None:
    likelihood = make_likelihood("bernoulli")
    for labels in (CLASSES, 2.0 * CLASSES - 1.0):
        np.testing.assert_array_equal(likelihood.pseudo_targets(labels), 2.0 * CLASSES - 1.0)


LINKED = {
    "exponential": Case(Exponential, POSITIVE),
    "gamma": Case(lambda: Gamma(shape=3.0), POSITIVE),
    "beta": Case(lambda: Beta(tf.sigmoid), SHARES),
}


@pytest.mark.parametrize("name", LINKED)
def test_pseudo_targets__are_where_the_mean_is_the_target(name: str) -> None:
    case = LINKED[name]
    f = make_likelihood(case.make()).pseudo_targets(case.y)
    mean = case.make().conditional_mean(np.zeros((NUM_ROWS, 0)), f[:, np.newaxis])
    np.testing.assert_allclose(mean[:, 0], case.y, rtol=1e-10)


def test_pseudo_targets__are_near_where_the_mean_is_the_target() -> None:
    """GPflow's inverse probit is not quite one, and counts have a half added."""
    X = np.zeros((NUM_ROWS, 0))
    f = make_likelihood("beta").pseudo_targets(SHARES)
    np.testing.assert_allclose(
        Beta().conditional_mean(X, f[:, np.newaxis])[:, 0], SHARES, atol=1e-3
    )
    f = make_likelihood(Poisson(binsize=0.2)).pseudo_targets(COUNTS)
    mean = Poisson(binsize=0.2).conditional_mean(X, f[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(mean, COUNTS + 0.5, rtol=1e-10)


@pytest.mark.parametrize("text", likelihood_names())
def test_pseudo_targets__are_finite_at_the_ends(text: str) -> None:
    f = make_likelihood(text).pseudo_targets(np.array([0.0, 1.0]))
    assert np.isfinite(f).all()
    assert f[0] < f[1]


def test_pseudo_targets__are_the_targets_where_the_link_is_not_known() -> None:
    likelihood = make_likelihood(Poisson(tf.nn.softplus))
    np.testing.assert_array_equal(likelihood.pseudo_targets(COUNTS), COUNTS)


def check_to_gpflow(likelihood: Likelihood, y: Array, noise: float) -> None:
    mean, variance, _ = moments(NUM_ROWS)
    everywhere = tf.fill([NUM_ROWS], np.float64(noise))
    expected = likelihood.expectations(tf.constant(y), mean, variance, everywhere).value
    got = expectations_of(likelihood.to_gpflow(noise), mean, variance, y)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize("noise", [1e-9, 40.0])
@OVER_CASES
def test_to_gpflow__has_the_same_expectations(name: str, noise: float) -> None:
    check_to_gpflow(wrapped(name), CASES[name].y, noise)


@pytest.mark.parametrize("noise", [1e-9, 40.0])
def test_to_gpflow__of_a_gaussian_has_the_same_expectations(noise: float) -> None:
    check_to_gpflow(Gaussian(), REAL, noise)


def test_to_gpflow__gives_a_parameter_that_can_be_trained() -> None:
    likelihood = make_likelihood("student_t").to_gpflow(0.3)
    assert [parameter.numpy() for parameter in likelihood.trainable_parameters] == [
        pytest.approx(0.3)
    ]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda ours: pickle.loads(pickle.dumps(ours))])
@pytest.mark.parametrize("text", ["gaussian", "bernoulli", "student_t"])
def test_copies__have_the_same_expectations(
    again: Callable[[Likelihood], Likelihood], text: str
) -> None:
    ours = make_likelihood(text)
    at, y = moments(NUM_CANDIDATES, NUM_ROWS), tf.constant(CASES[text].y)
    before = ours.expectations(y, *at)
    for got, expected in zip(again(ours).expectations(y, *at), before, strict=True):
        np.testing.assert_array_equal(got, expected)


class Laplacian(gpflow.likelihoods.ScalarLikelihood):
    """Noise of a variance that is learned, with linear tails."""

    def __init__(self):
        super().__init__()
        self.variance = gpflow.Parameter(0.5, transform=gpflow.utilities.positive())

    def _scalar_log_prob(self, X, F, Y):
        scale = tf.sqrt(0.5 * self.variance)
        return -tf.abs(Y - F) / scale - tf.math.log(2.0 * scale)

    def _conditional_mean(self, X, F):
        return tf.identity(F)

    def _conditional_variance(self, X, F):
        return tf.ones_like(F) * self.variance


@pytest.mark.parametrize(
    ("given", "power"),
    [
        ("student_t", 1),
        (Laplacian(), 2),
        ("gaussian", 2),
        ("gamma", 0),
        ("poisson", 0),
        ("beta", 0),
    ],
)
def test_scale_power__tells_scales_and_variances_from_other_parameters(given, power):
    likelihood = make_likelihood(given)
    assert likelihood.scale_power == power
    assert likelihood.has_identity_link == (power > 0)


def test_identity_link__is_also_that_of_a_scale_which_is_held():
    likelihood = StudentT(0.7)
    gpflow.set_trainable(likelihood, False)
    held = make_likelihood(likelihood)
    assert held.has_identity_link
    assert held.scale_power == 0


@pytest.mark.parametrize("given", ["student_t", "poisson"])
def test_scale__is_that_of_the_function(given):
    """The bound is that of f = level + scale · g, and slopes are those for g."""
    plain, rng = make_likelihood(given), np.random.default_rng(0)
    scaled, y = plain.at_level(1.5, 0.4), tf.constant(rng.poisson(3.0, 5).astype(float))
    mean, variance = (tf.constant(part) for part in (rng.normal(size=5), rng.uniform(size=5)))
    noise = tf.fill([5], tf.constant(0.3, tf.float64))
    with tf.GradientTape() as tape:
        tape.watch([mean, variance])
        f = 1.5 + 0.4 * mean, 0.16 * variance
        expected = plain.expectations(y, *f, noise).value
        total = tf.reduce_sum(expected)
    slopes = tape.gradient(total, [mean, variance])
    found = scaled.expectations(y, mean, variance, noise)
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)
    np.testing.assert_allclose(found.by_mean, slopes[0], rtol=1e-7)
    np.testing.assert_allclose(found.by_variance, slopes[1], rtol=1e-7)
    np.testing.assert_allclose(
        1.5 + 0.4 * scaled.pseudo_targets(y.numpy()), plain.pseudo_targets(y.numpy()), rtol=1e-12
    )
