"""Tests of rows whose noise is known, against GPflow and plain NumPy."""

from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from scipy.stats import norm

import vbks
from vbks.arrays import Array
from vbks.data.sources import ArraySource
from vbks.data.training import prepare
from vbks.errors import DataError, SettingsError, VbksError
from vbks.inference.choices import choose_bound
from vbks.inference.evaluator import fit_candidates
from vbks.inference.learned_inducing import learn_inducing
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.policies import ChoicePolicy
from vbks.predict.leave_one_out import leave_one_out
from vbks.predict.mixture import KernelMixture
from vbks.selection.selection import Selection

SETTINGS: dict[str, Any] = {"restarts": 2, "prune": False, "progress": False}


def make_rows(num: int = 40, seed: int = 0) -> tuple[Array, Array, Array]:
    """A wave whose noise is ten times as large in every other row."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 8.0, num)
    sd = np.where(np.arange(num) % 2, 20.0, 2.0)
    return x, 300.0 + 30.0 * np.sin(x) + sd * rng.normal(size=num), sd**2


@pytest.fixture(scope="module")
def selection() -> Selection:
    """One kernel at a point, so that a naive Gaussian process says the same."""
    x, y, noise = make_rows()
    return vbks.fit(x, y, noise_variance=noise, space=["SE"], posterior="point", **SETTINGS)


def squared_exponential(theta: Array, X1: Array, X2: Array) -> Array:
    scale, lengthscale = np.exp(theta[1:])
    return np.asarray(scale * np.exp(-0.5 * (X1 - X2.T) ** 2 / lengthscale**2))


def naive(selection: Selection, x: Array, xnew: Array) -> tuple[Array, Array, Array]:
    """Mean and covariance of the function, and the learned noise, in the user's units."""
    (_, y, known), fit, units = make_rows(), selection.best, selection.units
    X, Xnew = (units.standardise_inputs(values[:, None]) for values in (x, xnew))
    z = (y - units.y_mean) / units.y_scale
    learned = np.exp(fit.theta[0]) + fit.jitter
    noise = learned + known / units.y_scale**2
    K = squared_exponential(fit.theta, X, X) + np.diag(noise)
    cross = squared_exponential(fit.theta, X, Xnew)
    mean = cross.T @ np.linalg.solve(K, z)
    covariance = squared_exponential(fit.theta, Xnew, Xnew) - cross.T @ np.linalg.solve(K, cross)
    scale = units.y_scale
    return mean * scale + units.y_mean, covariance * scale**2, learned * scale**2


def test_predictions__are_those_of_a_naive_gaussian_process(selection: Selection) -> None:
    x, _, _ = make_rows()
    xnew = np.linspace(-1.0, 9.0, 17)
    mean, covariance, learned = naive(selection, x, xnew)
    found, spread = selection.predict_f(xnew, full_cov=True)
    np.testing.assert_allclose(found, mean, rtol=1e-8)
    np.testing.assert_allclose(spread, covariance, atol=1e-6)
    new = np.linspace(1.0, 400.0, len(xnew))
    variance = np.diag(covariance) + learned
    np.testing.assert_allclose(selection.predict_y(xnew)[1], variance, rtol=1e-7)
    _, noisy = selection.predict_y(xnew, noise_variance=new)
    np.testing.assert_allclose(noisy, variance + new, rtol=1e-7)
    sd, targets = np.sqrt(variance + new), mean + 5.0
    density = selection.predict_log_density((xnew, targets), noise_variance=new)
    np.testing.assert_allclose(density, norm.logpdf(targets, mean, sd), rtol=1e-6)
    quantiles = selection.predict_quantiles(xnew, (0.1, 0.5), noise_variance=new)
    np.testing.assert_allclose(
        quantiles, np.stack([norm.ppf(0.1, mean, sd), mean], axis=1), rtol=1e-7
    )


class NoiseOfRows(gpflow.functions.Function):
    """The noise of rows at integers, by their place."""

    def __init__(self, variances: Array) -> None:
        super().__init__()
        self.variances = tf.constant(variances[:, None])

    def __call__(self, X: Any) -> tf.Tensor:
        return self.variances


def test_evidence_and_model__are_those_of_gpflow(selection: Selection) -> None:
    x, _, known = make_rows()
    fit, units, data = selection.best, selection.units, next(iter(selection.data.values()))
    X, z = data.arrays()
    variances = np.exp(fit.theta[0]) + fit.jitter + known / units.y_scale**2
    kernel = gpflow.kernels.RBF(np.exp(fit.theta[1]), np.exp(fit.theta[2]))
    likelihood = gpflow.likelihoods.Gaussian(NoiseOfRows(variances))
    plain = gpflow.models.GPR((X, z[:, None]), kernel, likelihood=likelihood)
    value = plain.log_marginal_likelihood().numpy()
    assert fit.modes[0].log_likelihood == pytest.approx(value, abs=1e-8)
    model = selection.model()
    assert model.log_marginal_likelihood().numpy() == pytest.approx(value, abs=1e-8)
    xnew = np.linspace(-1.0, 9.0, 11)
    Xnew = units.standardise_inputs(xnew[:, None])
    for found, expected in zip(model.predict_f(Xnew), plain.predict_f(Xnew), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    _, variance = model.predict_y(Xnew)
    np.testing.assert_allclose(
        units.restore_variances(variance.numpy()[:, 0]), selection.predict_y(xnew)[1], rtol=1e-7
    )
    _, at_rows = model.predict_y(X)
    _, of_rows = selection.predict_y(x, noise_variance=known)
    np.testing.assert_allclose(units.restore_variances(at_rows.numpy()[:, 0]), of_rows, rtol=1e-7)
    np.testing.assert_allclose(model.posterior().predict_f(Xnew)[0], plain.predict_f(Xnew)[0])


def test_collapsed_fit__with_all_rows_inducing_is_the_exact_one(selection: Selection) -> None:
    x, y, known = make_rows()
    sparse = vbks.fit(
        x, y, noise_variance=known, space=["SE"], posterior="point", inference="collapsed",
        num_inducing=len(x), **SETTINGS,
    )  # fmt: skip
    assert sparse.best.bound == "collapsed"
    assert sparse.best.elbo == pytest.approx(selection.best.elbo, abs=0.02)
    for found, expected in zip(sparse.predict_f(x), selection.predict_f(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0.02)
    (by_rows, by_inducing) = (
        leave_one_out(own.fits, own.data)[:, 0] for own in (selection, sparse)
    )
    np.testing.assert_allclose(by_inducing, by_rows, atol=0.02)
    model = sparse.model()
    assert model.elbo().numpy() == pytest.approx(sparse.best.elbo, abs=1e-4)


def test_leave_one_out__is_that_of_a_naive_gaussian_process(selection: Selection) -> None:
    _, y, known = make_rows()
    (fit,), units = selection.fits, selection.units
    X, z = next(iter(selection.data.values())).arrays()
    noise = np.exp(fit.theta[0]) + fit.jitter + known / units.y_scale**2
    K = squared_exponential(fit.theta, X, X) + np.diag(noise)
    expected = []
    for row in range(len(y)):
        others = np.delete(np.arange(len(y)), row)
        weights = np.linalg.solve(K[np.ix_(others, others)], K[others, row])
        variance = K[row, row] - weights @ K[others, row]
        expected.append(norm.logpdf(z[row], weights @ z[others], np.sqrt(variance)))
    found = leave_one_out(selection.fits, selection.data)[:, 0]
    np.testing.assert_allclose(found, np.array(expected) - np.log(units.y_scale), atol=1e-6)


def test_noisier_rows__count_less() -> None:
    x, y, known = make_rows()
    spoiled = y.copy()
    spoiled[7] += 1e4
    noise = np.where(np.arange(len(y)) == 7, 1e14, known)
    data = prepare((x, spoiled), noise_variance=noise)
    without = prepare((np.delete(x, 7), np.delete(y, 7)), noise_variance=np.delete(known, 7))
    without = vbks.data.TrainingData(without.source, data.units)
    fits = [
        fit_candidates(["SE"], rows, posterior="point", restarts=2)[0] for rows in (data, without)
    ]
    np.testing.assert_allclose(fits[0].theta, fits[1].theta, atol=1e-3)
    means = [
        KernelMixture([fit], [1.0], rows).predict_f(x[:, None])[0].numpy()
        for fit, rows in zip(fits, (data, without), strict=True)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-5)


def test_known_noise__explains_more_than_one_noise_for_all() -> None:
    x, y, known = make_rows()
    found = [
        vbks.fit(x, y, noise_variance=noise, space=["SE"], warps=["identity"], **SETTINGS)
        for noise in (known, None)
    ]
    evidences = [own.belief["log_evidence"][0] for own in found]
    assert evidences[0] > evidences[1] + 5.0
    learned = [np.exp(own.best.theta[0]) * own.units.y_scale**2 for own in found]
    assert learned[0] < 0.2 * learned[1]


def test_saved_selection__keeps_known_noise(selection: Selection, tmp_path: Path) -> None:
    selection.save(tmp_path / "kept")
    again = vbks.load(tmp_path / "kept")
    x, _, known = make_rows()
    for found, expected in zip(again.predict_y(x), selection.predict_y(x), strict=True):
        np.testing.assert_array_equal(found, expected)
    source = next(iter(again.data.values())).source
    assert isinstance(source, ArraySource)
    np.testing.assert_array_equal(source.noise, known)


def test_update__takes_the_noise_of_new_rows() -> None:
    x, y, known = make_rows(60)
    first = vbks.fit(
        x[:50], y[:50], noise_variance=known[:50], space=["SE"], posterior="point", **SETTINGS
    )
    updated = first.update(x[50:], y[50:], known[50:])
    data = next(iter(updated.data.values()))
    np.testing.assert_allclose(data.known_noise, known / data.units.y_scale**2)
    with pytest.raises(DataError, match="the new rows do not have a noise_variance"):
        first.update(x[50:], y[50:])
    without = vbks.fit(x[:50], y[:50], space=["SE"], posterior="point", **SETTINGS)
    with pytest.raises(DataError, match="the new rows have a noise_variance"):
        without.update(x[50:], y[50:], known[50:])


def test_checkpoint__tells_other_noise(tmp_path: Path) -> None:
    x, y, known = make_rows(20)
    settings = {**SETTINGS, "space": ["SE"], "checkpoint": tmp_path / "kept", "restarts": 1}
    vbks.fit(x, y, noise_variance=known, **settings)
    with pytest.raises(VbksError, match="rows"):
        vbks.fit(x, y, noise_variance=2.0 * known, **settings)


def test_notice__says_that_no_warp_was_tried(selection: Selection) -> None:
    assert any("known noise" in notice for notice in selection.notices)
    assert list(selection.data) == [vbks.data.Identity()]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inference": "stochastic"}, "needs all rows at once"),
        ({"likelihood": "poisson"}, "goes with Gaussian noise, and the likelihood is"),
        ({"warps": ["identity", "log"]}, "goes with no warp"),
        ({"noise_variance": np.ones(7)}, r"has the shape \[7\], expected \[40\]"),
        ({"noise_variance": np.r_[np.ones(39), -1.0]}, "in row 40: -1"),
        ({"noise_variance": ["a"] * 40}, "cannot be read as numbers"),
        ({"preset": "paper"}, "no part of the VBKS paper"),
        ({"method": "skc"}, "'skc' needs upper bounds"),
    ],
)
def test_fit__refuses_in_one_line(settings: dict[str, Any], message: str) -> None:
    x, y, known = make_rows()
    given = {"noise_variance": known, "space": ["SE"], **SETTINGS, **settings}
    with pytest.raises((DataError, SettingsError), match=message) as caught:
        vbks.fit(x, np.round(y), **given)
    assert "\n" not in str(caught.value)


def test_fit__refuses_noise_of_a_dataset() -> None:
    x, y, known = make_rows()
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    with pytest.raises(DataError, match="not as a dataset"):
        vbks.fit(dataset, noise_variance=known, **SETTINGS)


def test_predictions__refuse_known_noise_after_a_warp() -> None:
    x, y, known = make_rows()
    selection = vbks.fit(x, y, space=["SE"], warps=["log"], posterior="point", **SETTINGS)
    with pytest.raises(DataError, match="targets without a warp"):
        selection.predict_y(x, noise_variance=known)


def test_densities__refuse_other_numbers_of_targets(selection: Selection) -> None:
    for targets in (np.ones(3), np.array([1.0, np.nan])):
        with pytest.raises(DataError, match="2 finite numbers"):
            selection.predict_log_density(([1.0, 2.0], targets), noise_variance=[1.0, 1.0])


def test_auto__takes_collapsed_fits_where_others_would_be_stochastic() -> None:
    x, y, known = make_rows()
    rows = prepare((x, y), noise_variance=known)
    many, memory = 10**9, 10**9
    assert (
        choose_bound("auto", prepare((x, y)), many, 10, True, memory, ChoicePolicy()).bound
        == "stochastic"
    )
    assert choose_bound("auto", rows, many, 10, True, memory, ChoicePolicy()).bound == "collapsed"
    with pytest.raises(DataError, match="needs all rows at once"):
        choose_bound("auto", rows, many, 10, True, 100, ChoicePolicy())


def test_candidates__are_refused_with_other_noise_or_a_warp() -> None:
    x, y, known = make_rows()
    counts = (x, np.round(y))
    rows = prepare(counts, standardise_targets=False, noise_variance=known)
    with pytest.raises(DataError, match="known noise of each row is Gaussian"):
        fit_candidates(["SE"], rows, likelihood="poisson")
    with pytest.raises(DataError, match="not after the warp 'log'"):
        rows.warped(vbks.data.Log())


def test_learned_inducing_inputs__know_the_noise() -> None:
    x, y, known = make_rows()
    rows = prepare((x, y), noise_variance=known)
    (fit,) = fit_candidates(
        ["SE"], rows, inference="collapsed", num_inducing=6, posterior="point", restarts=2
    )
    learned = learn_inducing(fit, rows)
    assert learned.elbo >= fit.elbo - 1e-6
    assert learned.inducing is not None
    bank, theta = vbks.Bank(["SE"]), learned.theta[np.newaxis, np.newaxis]
    X, z = rows.arrays()
    evidence = CollapsedEvidence(X, z, learned.inducing, learned.jitter, rows.known_noise)
    assert learned.elbo == pytest.approx(evidence(bank, theta).numpy().item(), abs=1e-6)


def test_forecast__with_known_noise_says_what_its_intervals_have(selection: Selection) -> None:
    without = selection.forecast(2, freq=0.5)
    assert "noise_variance=" in without.notices[0]
    with_it = selection.forecast(2, freq=0.5, noise_variance=[0.04, 4.0])
    assert not with_it.notices
    more = with_it.table["sd"] ** 2 - without.table["sd"] ** 2
    np.testing.assert_allclose(more, [0.04, 4.0], rtol=1e-6)
    X = with_it.table[["time"]].to_numpy()
    quantiles = selection.predict_quantiles(X, (0.05, 0.95), noise_variance=[0.04, 4.0])
    np.testing.assert_allclose(with_it.table[["low_90", "high_90"]], quantiles)
