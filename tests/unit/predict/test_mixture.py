from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import gpflow
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import norm
from support.fits import (
    BOUNDS,
    NUM_ROWS,
    at_theta,
    make_data,
    make_fit,
    make_logs,
    new_inputs,
    with_modes,
)

from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity, Log
from vbks.errors import DataError, TailWarning, VbksError
from vbks.inference.evaluator import fit_candidates
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import LocalFit
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.posteriors import averaging
from vbks.predict.posteriors.samples import Component, draw_components

DATA = {Identity(): make_data(), Log(): make_logs()}
LEVELS = (0.02, 0.3, 0.5, 0.8, 0.99)
TEXTS = ("SE", "SE * PER + LIN", "SE + WN", "(SE + WN) * LIN")


def three_fits(**changes: Any) -> list[LocalFit]:
    return [
        make_fit("SE", spread=0.3, **changes),
        with_modes(make_fit("SE + LIN", spread=0.2, **changes), 0.6, 0.4),
        make_fit("PER + WN * LIN", **changes),
    ]


WEIGHTS = (0.5, 0.3, 0.2)


@pytest.fixture(scope="module")
def mixture() -> KernelMixture:
    return KernelMixture(three_fits(), WEIGHTS, make_data(), num_samples=12)


@pytest.fixture(scope="module")
def warped() -> KernelMixture:
    """Half of the weight on the logarithm of the targets."""
    fits = [*three_fits(), *three_fits(warp=Log())]
    return KernelMixture(fits, np.tile(WEIGHTS, 2), DATA, num_samples=12)


def components_of(mixture: KernelMixture, num_samples: int = 12) -> list[Component]:
    return draw_components(mixture.members, num_samples)


@cache
def models_of(mixture: KernelMixture) -> list[tuple[Component, TrainingData, Any]]:
    """The components of a mixture, each with its data and its GPflow model."""
    found = [(component, DATA[component.fit.warp]) for component in components_of(mixture)]
    return [(c, data, gpflow_model(at_theta(c), data)) for c, data in found]


def in_turn(
    mixture: KernelMixture, method: str, X: Array, **arguments: Any
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Weights, and standardised means and (co)variances of one GPflow model after the other."""
    weights, moments = [], []
    for component, data, model in models_of(mixture):
        mean, variance = getattr(model, method)(data.units.standardise_inputs(X), **arguments)
        moments.append((mean.numpy()[:, 0], variance.numpy().squeeze(0 if arguments else 1)))
        weights.append(component.weight)
    return np.array(weights), moments


# One component


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_one_point__is_the_gpflow_model_in_the_units_of_the_user(bound: str, text: str) -> None:
    fit, data, X = make_fit(text, bound), make_data(), new_inputs()
    model, mixture = gpflow_model(fit, data), KernelMixture([fit], [3.0], data)
    units, scale = data.units, data.units.y_scale**2
    Z = units.standardise_inputs(X)
    calls = ("predict_f", {"full_cov": True}), ("predict_f", {}), ("predict_y", {})
    for method, arguments in calls:
        mean, variance = getattr(mixture, method)(X, **arguments)
        expected_mean, expected_variance = getattr(model, method)(Z, **arguments)
        assert mean.shape == expected_mean.shape
        assert variance.shape == expected_variance.shape
        np.testing.assert_allclose(mean, units.restore_targets(expected_mean.numpy()), atol=1e-8)
        np.testing.assert_allclose(variance, scale * expected_variance, atol=1e-8)
    Y = 1.0 + np.arange(len(X))[:, None]
    expected = model.predict_log_density((Z, units.standardise_targets(Y)))
    density = mixture.predict_log_density((X, Y))
    np.testing.assert_allclose(density, expected - np.log(units.y_scale), atol=1e-8)


def test_noise_on_all_targets__is_in_the_covariance_of_y(mixture: KernelMixture) -> None:
    X = new_inputs()
    mean, covariance = mixture.predict_y(X, full_cov=True)
    expected_mean, variance = mixture.predict_y(X)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-10)
    np.testing.assert_allclose(np.diag(covariance[0]), variance[:, 0], rtol=1e-10)
    _, of_f = mixture.predict_f(X, full_cov=True)
    off_diagonal = ~np.eye(len(X), dtype=bool)
    np.testing.assert_allclose(covariance[0][off_diagonal], of_f[0][off_diagonal], rtol=1e-10)
    assert np.ptp(np.diag(covariance[0] - of_f[0])) > 0.01


# Moments, densities and quantiles of mixtures


@pytest.mark.parametrize("method", ["predict_f", "predict_y"])
def test_moments__are_sums_over_components(mixture: KernelMixture, method: str) -> None:
    X, scale = new_inputs(), make_data().units.y_scale ** 2
    weights, moments = in_turn(mixture, method, X)
    assert len(weights) == 6 + 2 * 4 + 1
    means = make_data().units.restore_targets(np.array([mean for mean, _ in moments]))
    variances = scale * np.array([variance for _, variance in moments])
    expected = sum(w * m for w, m in zip(weights, means, strict=True))
    second = sum(w * (v + m**2) for w, m, v in zip(weights, means, variances, strict=True))
    mean, variance = getattr(mixture, method)(X)
    np.testing.assert_allclose(mean[:, 0], expected, rtol=1e-9)
    np.testing.assert_allclose(variance[:, 0], second - expected**2, rtol=1e-8)


def test_covariance__is_a_sum_over_components(mixture: KernelMixture) -> None:
    X, scale = new_inputs(), make_data().units.y_scale ** 2
    weights, moments = in_turn(mixture, "predict_f", X, full_cov=True)
    means = make_data().units.restore_targets(np.array([mean for mean, _ in moments]))
    centre = weights @ means
    expected = sum(
        w * (scale * C + np.outer(m - centre, m - centre))
        for w, m, (_, C) in zip(weights, means, moments, strict=True)
    )
    _, covariance = mixture.predict_f(X, full_cov=True)
    np.testing.assert_allclose(covariance[0], expected, atol=1e-8)
    _, both = mixture.predict_f(X, full_cov=True, full_output_cov=True)
    np.testing.assert_array_equal(tf.squeeze(both), covariance[0])
    _, output = mixture.predict_f(X, full_output_cov=True)
    np.testing.assert_allclose(output[:, 0, 0], np.diag(covariance[0]), rtol=1e-9)


def test_covariance__of_warped_targets_agrees_with_their_variance(warped: KernelMixture) -> None:
    for method in ("predict_f", "predict_y"):
        mean, covariance = getattr(warped, method)(new_inputs(), full_cov=True)
        expected_mean, variance = getattr(warped, method)(new_inputs())
        np.testing.assert_allclose(mean, expected_mean, rtol=1e-12)
        np.testing.assert_allclose(np.diag(covariance[0]), variance[:, 0], rtol=1e-8)
        assert np.linalg.eigvalsh(covariance[0]).min() > -1e-9


def test_log_density__is_that_of_the_mixture(warped: KernelMixture) -> None:
    X, y = new_inputs(), np.array([0.5, 2.0, 3.0, 4.0, -0.3, 0.0, 90.0])
    terms = []
    weights, moments = in_turn(warped, "predict_y", X)
    for component, w, (mean, variance) in zip(components_of(warped), weights, moments, strict=True):
        units = DATA[component.fit.warp].units
        z = units.standardise_targets(y)
        terms.append(np.log(w) + norm.logpdf(z, mean, np.sqrt(variance)) + units.log_slope(y))
    expected = logsumexp(terms, axis=0)
    np.testing.assert_allclose(warped.predict_log_density((X, y[:, None])), expected, atol=1e-8)
    np.testing.assert_allclose(warped.predict_log_density((X, y)), expected, atol=1e-8)
    mean, variance = (values.numpy()[:, 0] for values in warped.predict_y(X))
    gaussian = norm.logpdf(y, mean, np.sqrt(variance))
    assert np.abs(gaussian - expected).max() > 0.1


def test_density__integrates_to_one(mixture: KernelMixture, warped: KernelMixture) -> None:
    for model in (mixture, warped):
        grid = np.linspace(-80.0, 400.0, 4_801)
        for x in (4.0, 9.5):
            density = np.exp(model.predict_log_density((np.full((len(grid), 1), x), grid)))
            assert trapezoid(density, grid) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("of_y", [True, False])
def test_quantiles__have_the_levels_asked_for(warped: KernelMixture, of_y: bool) -> None:
    X = new_inputs()
    quantiles = warped.predict_quantiles(X, LEVELS, of_y=of_y).numpy()
    assert quantiles.shape == (len(X), len(LEVELS))
    assert np.all(np.diff(quantiles, axis=1) > 0.0)
    weights, moments = in_turn(warped, "predict_y" if of_y else "predict_f", X)
    levels = np.zeros(quantiles.shape)
    for component, w, (mean, variance) in zip(components_of(warped), weights, moments, strict=True):
        z = DATA[component.fit.warp].units.standardise_targets(quantiles)
        levels += w * norm.cdf(z, mean[:, None], np.sqrt(variance)[:, None])
    np.testing.assert_allclose(levels, np.tile(LEVELS, (len(X), 1)), atol=1e-8)


def test_quantiles__of_one_warped_component_are_exact() -> None:
    fit, X = make_fit("SE", warp=Log()), new_inputs()
    units = make_logs().units
    mean, variance = gpflow_model(fit, make_logs()).predict_y(units.standardise_inputs(X))
    z = norm.ppf(LEVELS, mean, np.sqrt(variance))
    found = KernelMixture([fit], [1.0], make_logs()).predict_quantiles(X, LEVELS)
    np.testing.assert_allclose(found, np.exp(z * units.y_scale + units.y_mean), rtol=1e-9)


def test_noise__is_in_y_and_not_in_f(mixture: KernelMixture) -> None:
    (_, of_f), (_, of_y) = mixture.predict_f(new_inputs()), mixture.predict_y(new_inputs())
    assert np.all(of_y - of_f > 0.2 * make_data().units.y_scale ** 2)
    narrow, wide = (mixture.predict_quantiles(new_inputs(), of_y=of_y) for of_y in (False, True))
    assert np.all(wide[:, 2] - wide[:, 0] > narrow[:, 2] - narrow[:, 0])


# Samples


@pytest.mark.parametrize("full_cov", [True, False])
@pytest.mark.parametrize("method", ["predict_f", "predict_y"])
def test_samples__have_the_moments_of_the_mixture(
    warped: KernelMixture, method: str, full_cov: bool
) -> None:
    X, count = new_inputs(3), 4_000
    samples = getattr(warped, f"{method}_samples")(X, count, full_cov=full_cov).numpy()
    assert samples.shape == (count, 3, 1)
    mean, variance = (values.numpy() for values in getattr(warped, method)(X))
    assert np.all(np.abs(samples.mean(axis=0) - mean) < 4.0 * np.sqrt(variance / count))
    squares = (samples - mean) ** 2
    error = squares.std(axis=0) / np.sqrt(count)
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 4.0 * error)


def test_joint_samples__have_the_covariance_of_the_mixture(mixture: KernelMixture) -> None:
    X, count = np.array([[4.0], [4.3], [9.0]]), 4_000
    mean, covariance = mixture.predict_f(X, full_cov=True)
    samples = mixture.predict_f_samples(X, count).numpy()[..., 0] - mean.numpy()[:, 0]
    products = np.einsum("si,sj->sij", samples, samples)
    error = products.std(axis=0) / np.sqrt(count)
    assert np.all(np.abs(products.mean(axis=0) - covariance[0]) < 4.0 * error)


def test_samples__differ_from_call_to_call_but_not_from_model_to_model() -> None:
    X = new_inputs(3)
    first, second = (KernelMixture(three_fits(), WEIGHTS, make_data()) for _ in range(2))
    draw = first.predict_f_samples(X)
    assert draw.shape == (3, 1)
    np.testing.assert_array_equal(draw, second.predict_f_samples(X))
    assert np.all(draw != first.predict_f_samples(X))


def test_samples__at_one_input_many_times_are_one_function(mixture: KernelMixture) -> None:
    X = np.repeat([[5.0]], 4, axis=0)
    samples = mixture.predict_f_samples(X, 20).numpy()
    assert np.ptp(samples, axis=1).max() < 1e-3
    assert np.ptp(samples[:, 0]) > 0.1


# Members


def test_members__that_do_not_matter_are_left_out() -> None:
    texts = ("SE", "SE + LIN", "PER", "LIN", "SE * LIN", "RQ")
    fits = [make_fit(text, spread=0.2, seed=i) for i, text in enumerate(texts)]
    weights = np.array([0.7, 5e-7, 0.2, 3e-7, 0.1 - 1e-5, 1e-5])
    everything = KernelMixture(fits, weights, make_data(), negligible_weight=0.0)
    mixture = KernelMixture(fits, weights, make_data())
    assert len(everything.members) == 6
    assert [str(fit.expression) for fit, _ in mixture.members] == ["SE", "PER", "SE * LIN", "RQ"]
    assert sum(weight for _, weight in mixture.members) == pytest.approx(1.0, abs=1e-15)
    X = np.linspace(-10.0, 30.0, 60)[:, None]
    all_mean, all_variance = everything.predict_f(X)
    mean, _ = mixture.predict_f(X)
    assert np.all(np.abs(mean - all_mean) < 1e-3 * np.sqrt(all_variance))
    assert np.any(mean != all_mean)


def test_fits_without_weight__may_have_failed() -> None:
    failed = make_fit("PER", status="failed", modes=(), reason="out of memory")
    mixture = KernelMixture([failed, make_fit("SE")], [0.0, 2.0], make_data())
    ((fit, weight),) = mixture.members
    assert (str(fit.expression), weight) == ("SE", 1.0)
    with pytest.raises(DataError, match=r"'PER' has a weight of 0.5, but .* out of memory"):
        KernelMixture([failed, make_fit("SE")], [0.5, 0.5], make_data())


def test_member_predictions__are_those_of_mixtures_of_one(warped: KernelMixture) -> None:
    X = new_inputs()
    means, variances = warped.member_predictions(X)
    assert means.shape == variances.shape == (6, len(X))
    weights = np.array([weight for _, weight in warped.members])
    np.testing.assert_allclose(weights @ means, warped.predict_f(X)[0][:, 0], rtol=1e-9)
    fit = warped.members[4][0]
    alone = KernelMixture([fit], [1.0], make_logs(), num_samples=8)
    mean, variance = alone.predict_f(X)
    np.testing.assert_allclose(means[4], mean[:, 0], rtol=1e-8)
    np.testing.assert_allclose(variances[4], variance[:, 0], rtol=1e-8)


def test_failed_component__does_not_spoil_the_rest() -> None:
    fit = make_fit("SE")
    factor = np.diag([0.0, 1e3, 0.0])
    wild = replace(fit, modes=(replace(fit.modes[0], factor=factor),))
    mixture = KernelMixture([make_fit("LIN"), wild], [0.5, 0.5], make_data(), num_samples=16)
    for values in (*mixture.predict_y(new_inputs()), mixture.predict_quantiles(new_inputs())):
        assert np.all(np.isfinite(values))


def test_member_without_a_posterior__is_named() -> None:
    fit = make_fit("SE", jitter=1e-4)
    lost = replace(fit, modes=(replace(fit.modes[0], mean=np.full(3, 1e3)),))
    mixture = KernelMixture([make_fit("LIN"), lost], [0.75, 0.25], make_data())
    message = r"'SE', which has 0.25 of the weight, cannot predict: .* a jitter of 1\. Fit it"
    with pytest.raises(DataError, match=message):
        mixture.predict_f(new_inputs())


@pytest.mark.parametrize("weight", [0.003, 0.2])
def test_member_that_grows__does_not_decide_the_mean_and_is_told(weight: float) -> None:
    steep = make_fit("LIN", warp=Log())
    theta = steep.modes[0].mean + np.array([0.0, 12.0, 0.0])
    steep = replace(steep, modes=(replace(steep.modes[0], mean=theta),))
    data = {Identity(): make_data(), Log(): make_logs()}
    X = np.array([[-3e3], [6.0], [3e3]])
    alone, _ = KernelMixture([make_fit("SE")], [1.0], data).predict_y(X)
    mixture = KernelMixture([make_fit("SE"), steep], [1.0 - weight, weight], data)
    with pytest.warns(TailWarning, match="inputs the tails of the mixture would decide"):
        mean, variance = mixture.predict_y(X)
    with pytest.warns(TailWarning):
        joint, covariance = mixture.predict_y(X, full_cov=True)
    served = mixture.to_module().predict_y(X)
    assert np.all(np.abs(mean - alone) < np.sqrt(variance))
    np.testing.assert_allclose(joint, mean, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(covariance[0]), variance[:, 0], rtol=1e-9)
    np.testing.assert_allclose(served["mean"], mean, rtol=1e-9)
    np.testing.assert_allclose(served["variance"], variance, rtol=1e-9)


# Size and repetition


@pytest.mark.parametrize("bound", BOUNDS)
def test_blocks__make_no_difference(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fit, X = make_fit("SE + LIN", bound, spread=0.2), new_inputs(40)
    mixture = KernelMixture([fit], [1.0], make_data(), num_samples=6)
    y = np.linspace(1.0, 6.0, 40)

    def answers() -> list[Array]:
        return [
            *mixture.predict_y(X),
            mixture.predict_f(X, full_cov=True)[1],
            mixture.predict_log_density((X, y)),
            mixture.predict_quantiles(X),
            *mixture.member_predictions(X),
        ]

    expected = answers()
    monkeypatch.setattr(averaging, "BLOCK", 7)
    monkeypatch.setattr(averaging, "ELEMENTS_AT_ONCE", 1)
    for found, value in zip(answers(), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-9)


def test_predictions__are_the_same_each_time_and_for_one_row_alone(mixture: KernelMixture) -> None:
    X = new_inputs()
    again = KernelMixture(three_fits(), WEIGHTS, make_data(), num_samples=12)
    other = KernelMixture(three_fits(), WEIGHTS, make_data(), num_samples=12, seed=1)
    mean, variance = mixture.predict_y(X)
    np.testing.assert_array_equal(again.predict_y(X), (mean, variance))
    assert np.all(other.predict_y(X)[0] != mean)
    np.testing.assert_allclose(mixture.predict_y(X[2:3])[1], variance[2:3], rtol=1e-12)


def test_posteriors__are_made_once(mixture: KernelMixture, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = mixture.predict_f(new_inputs())
    monkeypatch.setattr(averaging, "posteriors_of", None)
    np.testing.assert_array_equal(mixture.predict_f(new_inputs()), expected)


# Likelihoods that are not Gaussian


@pytest.fixture(scope="module")
def counts() -> tuple[TrainingData, list[LocalFit]]:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(3, 9, NUM_ROWS))
    data = prepare((X, rng.poisson(np.exp(1 + np.sin(2 * X)))), standardise_targets=False)
    fits = [make_fit(text, "stochastic", spread=0.1, seed=i) for i, text in enumerate(TEXTS[:2])]
    return data, fits


def test_counts__are_predicted_by_gpflow_for_each_component(
    counts: tuple[TrainingData, list[LocalFit]],
) -> None:
    data, fits = counts
    X, y = new_inputs(), np.array([0.0, 1.0, 2.0, 5.0, 3.0, 1.0, 0.0])
    likelihood = make_likelihood("poisson")
    mixture = KernelMixture(fits, [0.75, 0.25], data, likelihood=likelihood, num_samples=16)
    Z = data.units.standardise_inputs(X)
    components = components_of(mixture, 16)
    models = [gpflow_model(at_theta(c), data, likelihood) for c in components]
    weights = np.array([c.weight for c in components])
    moments = [model.predict_y(Z) for model in models]
    means = np.array([mean[:, 0] for mean, _ in moments])
    variances = np.array([variance[:, 0] for _, variance in moments])
    mean, variance = mixture.predict_y(X)
    np.testing.assert_allclose(mean[:, 0], weights @ means, rtol=1e-8)
    total = weights @ (variances + means**2) - (weights @ means) ** 2
    np.testing.assert_allclose(variance[:, 0], total, rtol=1e-8)
    densities = [model.predict_log_density((Z, y[:, None])) for model in models]
    found = mixture.predict_log_density((X, y))
    np.testing.assert_allclose(found, logsumexp(densities, 0, weights[:, None]), rtol=1e-8)
    of_f = weights @ np.array([model.predict_f(Z)[0][:, 0] for model in models])
    np.testing.assert_allclose(mixture.predict_f(X)[0][:, 0], of_f, atol=1e-8)


def test_quantiles_of_counts__are_counts_with_about_the_levels_asked_for(
    counts: tuple[TrainingData, list[LocalFit]],
) -> None:
    data, fits = counts
    likelihood = make_likelihood("poisson")
    mixture = KernelMixture(fits, [0.5, 0.5], data, likelihood=likelihood, num_samples=8)
    X = new_inputs(3)
    quantiles = mixture.predict_quantiles(X, (0.1, 0.5, 0.9)).numpy()
    np.testing.assert_array_equal(quantiles, np.floor(quantiles))
    np.testing.assert_array_equal(quantiles, mixture.predict_quantiles(X, (0.1, 0.5, 0.9)))
    for x, row in zip(X, quantiles, strict=True):
        values = np.arange(row.max() + 1)
        density = mixture.predict_log_density((np.tile(x, (len(values), 1)), values))
        below = np.cumsum(np.exp(density))
        for level, quantile in zip((0.1, 0.5, 0.9), row.astype(int), strict=True):
            assert below[quantile] > level - 0.03
            assert quantile == 0 or below[quantile - 1] < level + 0.03
    samples = mixture.predict_y_samples(X, 50).numpy()
    np.testing.assert_array_equal(samples, np.floor(samples))
    assert mixture.predict_quantiles(X, of_y=False).shape == (3, 3)


def test_counts__have_no_covariance_and_no_density_of_other_numbers(
    counts: tuple[TrainingData, list[LocalFit]],
) -> None:
    data, fits = counts
    mixture = KernelMixture(fits, [0.5, 0.5], data, likelihood=make_likelihood("poisson"))
    with pytest.raises(DataError, match="the covariance of targets of Poisson is not known"):
        mixture.predict_y(new_inputs(), full_cov=True)
    with pytest.raises(DataError, match=r"Row 2 has the target -1\.0, but Poisson takes"):
        mixture.predict_log_density((new_inputs(2), np.array([1.0, -1.0])))


# As a GPflow model, and of real fits


def test_mixture__is_a_gpflow_model_without_parameters(mixture: KernelMixture) -> None:
    assert isinstance(mixture, gpflow.models.BayesianModel)
    assert mixture.parameters == ()
    assert mixture.predict_f(new_inputs())[0].dtype == gpflow.default_float()
    with pytest.raises(VbksError, match="a KernelMixture is not trained"):
        mixture.maximum_log_likelihood_objective()


def test_inputs__may_be_tensors_tables_or_a_column(mixture: KernelMixture) -> None:
    X = new_inputs()
    mean, _ = mixture.predict_f(X)
    for same in (tf.constant(X), pd.DataFrame({"x": X[:, 0]}), X[:, 0], X.tolist()):
        np.testing.assert_array_equal(mixture.predict_f(same)[0], mean)


def test_fits_of_data__predict_held_out_rows_well() -> None:
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0.0, 6.0, 60))
    y = np.exp(1.0 + np.sin(2.0 * X) + 0.1 * rng.normal(size=60))
    data = prepare((X[::2], y[::2]))
    both = {Identity(): data, Log(): data.warped(Log())}
    fits = [
        fit
        for rows in both.values()
        for fit in fit_candidates(["SE", "PER"], rows, inference="exact", restarts=2)
    ]
    evidence = np.array([fit.log_evidence() for fit in fits])
    mixture = KernelMixture(fits, np.exp(evidence - evidence.max()), both)
    assert {fit.warp for fit, _ in mixture.members} >= {Log()}
    assert np.mean(mixture.predict_log_density((X[1::2], y[1::2]))) > -1.0
    low, high = mixture.predict_quantiles(X[1::2], (0.025, 0.975)).numpy().T
    assert np.mean((low < y[1::2]) & (y[1::2] < high)) > 0.85


# Refusals


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((4, 2)), r"Xnew has 4 rows and 2 columns, expected at least one row and 1 col"),
        (np.zeros((0, 1)), r"Xnew has 0 rows and 1 columns, expected at least one row"),
        ([[1.0], [np.nan], [np.inf]], r"Xnew has 2 missing or infinite values, the first in row 2"),
        ([["a"]], r"'a'"),
    ],
)
def test_inputs__that_cannot_be_used_are_refused(
    mixture: KernelMixture, X: Any, message: str
) -> None:
    for predict in (mixture.predict_f, mixture.predict_quantiles, mixture.predict_y_samples):
        with pytest.raises(DataError, match=message):
            predict(X)


def test_targets__that_cannot_be_used_are_refused(mixture: KernelMixture) -> None:
    X = new_inputs(3)
    with pytest.raises(DataError, match=r"Ynew has the shape \[2\], expected \[3, 1\]"):
        mixture.predict_log_density((X, np.zeros(2)))
    with pytest.raises(DataError, match=r"Ynew has 1 missing or infinite values, .* row 3"):
        mixture.predict_log_density((X, np.array([0.0, 1.0, np.nan])))
    with pytest.raises(DataError, match="Leave out full_cov"):
        mixture.predict_log_density((X, np.zeros(3)), full_cov=True)


@pytest.mark.parametrize("quantiles", [(0.0, 0.5), (1.0,), (50,), (float("nan"),), 0.5])
def test_quantiles__that_are_none_are_refused(mixture: KernelMixture, quantiles: Any) -> None:
    with pytest.raises(DataError, match="expected numbers between 0 and 1"):
        mixture.predict_quantiles(new_inputs(), quantiles)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5], r"weights have the shape \[1\], expected \[2\]"),
        ([0.5, -0.1], "weights must not be negative"),
        ([0.5, np.nan], "weights must not be negative"),
        ([0.0, 0.0], "one of them must be above zero"),
    ],
)
def test_weights__that_are_none_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        KernelMixture([make_fit("SE"), make_fit("LIN")], weights, make_data())


def test_settings__that_make_no_sense_are_refused(mixture: KernelMixture) -> None:
    with pytest.raises(DataError, match="num_samples is 0, expected at least 1"):
        KernelMixture([make_fit("SE")], [1.0], make_data(), num_samples=0)
    with pytest.raises(DataError, match=r"negligible_weight is 1\.0, expected a share"):
        KernelMixture([make_fit("SE")], [1.0], make_data(), negligible_weight=1.0)
    with pytest.raises(DataError, match="num_samples is 0, expected at least 1"):
        mixture.predict_f_samples(new_inputs(), 0)
    with pytest.raises(DataError, match="fitted with the warp 'log', but there is no data"):
        KernelMixture([make_fit("SE", warp=Log())], [1.0], make_data())
