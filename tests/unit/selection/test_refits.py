from __future__ import annotations

from dataclasses import replace
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.models import GPR, SVGP

import vbks
from vbks.errors import DataError, GraphError
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.selection.selection import Selection

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0.0, 10.0, 30))
Y = 20.0 + 4.0 * np.sin(X) + 0.5 * RNG.normal(size=30)
XNEW = np.linspace(-1.0, 11.0, 5)


def fit(**settings: Any) -> Selection:
    usual = {"space": ["SE", "LIN"], "warps": ["identity"], "restarts": 1, "progress": False}
    return vbks.fit(X, Y, **{**usual, **settings})


@pytest.fixture(scope="module")
def exact() -> Selection:
    return fit(inference="exact", posterior="laplace")


@pytest.fixture(scope="module")
def stochastic() -> Selection:
    return fit(inference="stochastic", posterior="laplace", num_inducing=8, space=["SE", "SE + WN"])


def test_models_at_samples__average_to_the_mixture_of_the_candidate(exact: Selection) -> None:
    models = exact.model("SE", posterior=True, num_samples=6)
    assert isinstance(models, list)
    assert sum(weight for weight, _ in models) == pytest.approx(1.0)
    units = exact.data[exact.fit_of("SE").warp].units
    moments = [
        (w, *model.predict_y(units.standardise_inputs(XNEW[:, None]))) for w, model in models
    ]
    mean = sum(w * m.numpy()[:, 0] for w, m, _ in moments)
    second = sum(w * (v.numpy() + m.numpy() ** 2)[:, 0] for w, m, v in moments)
    mixture = KernelMixture([exact.fit_of("SE")], [1.0], exact.data, num_samples=6)
    expected_mean, expected_variance = (v.numpy()[:, 0] for v in mixture.predict_y(XNEW))
    np.testing.assert_allclose(units.restore_targets(mean), expected_mean, rtol=1e-6)
    found = (second - mean**2) * units.y_scale**2
    np.testing.assert_allclose(found, expected_variance, rtol=1e-5)


@pytest.mark.parametrize("text", ["SE", "SE + WN"])
def test_stochastic_fit__is_a_model_with_the_posterior_of_the_fit(
    stochastic: Selection, text: str
) -> None:
    model = stochastic.model(text, posterior=True)
    assert isinstance(model, VariationalSVGP)
    own, plain = stochastic.fit_of(text), stochastic.model(text)
    Z = np.linspace(-2.0, 2.0, 5)[:, None]
    for found, expected in zip(model.at_mean().predict_y(Z), plain.predict_y(Z), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    covariance = own.modes[0].factor @ own.modes[0].factor.T
    names, sds = list(model.theta_names), model.theta_sd.numpy()
    lengthscale = next(k for k, name in enumerate(names) if name.endswith("lengthscales"))
    assert sds[lengthscale] == pytest.approx(np.sqrt(covariance[-1, -1]), rel=1e-6)
    noise = names.index(".likelihood.variance")
    # The likelihood has a softplus, so that the spread of log v is that of the value over v.
    value = model.likelihood.variance.numpy()
    slope = (1.0 - np.exp(-value)) / value
    assert sds[noise] * slope == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-3)
    assert len(names) == 3
    rows, y = stochastic.data[own.warp].arrays()
    assert np.isfinite(float(model.elbo((rows, y[:, None]))))


def test_stochastic_fit_of_counts__is_a_model_with_its_link() -> None:
    counts = np.round(np.exp(1.0 + np.sin(X)))
    selection = vbks.fit(
        X, counts, space=["SE"], likelihood="poisson", num_inducing=6, posterior="laplace",
        restarts=1, progress=False,
    )  # fmt: skip
    model = selection.model(posterior=True)
    assert isinstance(model, VariationalSVGP)
    assert model.theta_names == (".kernel.variance", ".kernel.lengthscales")
    Z = selection.units.standardise_inputs(XNEW[:, None])
    expected = selection.model().predict_y(Z)
    for found, own in zip(model.at_mean().predict_y(Z), expected, strict=True):
        np.testing.assert_allclose(found, own, rtol=1e-6)


def test_noise_that_depends_on_inputs__has_no_model_with_a_posterior() -> None:
    selection = fit(
        inference="stochastic", posterior="laplace", num_inducing=6, space=["SE + WN * LIN"]
    )
    with pytest.raises(DataError, match=r"the noise of .* depends on inputs, so that its variance"):
        selection.model(posterior=True)


def test_predictions_of_a_selection__say_that_they_are_arrays(exact: Selection) -> None:
    with pytest.raises(GraphError, match=r"of a selection are arrays, .* those of `selection.mix"):
        tf.function(exact.predict_f, autograph=False)(tf.constant(XNEW))


def test_refit__goes_on_and_forms_the_belief_anew(exact: Selection) -> None:
    dropped = tuple(
        replace(own, status="dropped", reason="for a test") if str(own.expression) == "SE" else own
        for own in exact.fits
    )
    worse = replace(exact, fits=dropped)
    assert worse.best.expression != exact.best.expression
    again = worse.refit("SE")
    assert again.fit_of("SE").status == "fitted"
    expected = exact.fit_of("SE").log_evidence()
    assert again.fit_of("SE").log_evidence() == pytest.approx(expected, abs=0.05)
    np.testing.assert_allclose(again.probabilities, exact.probabilities, atol=1e-3)
    full = exact.refit(posterior="full", restarts=2)
    assert full.best.posterior == "full"
    assert len(full.fits) == len(exact.fits)


def trained(standardised: bool, selection: Selection) -> GPR:
    """A model that was trained by its user, who has a good guess of the lengthscale."""
    units = selection.units
    rows, length, scale = (X[:, None], (Y - Y.mean())[:, None]), units.x_scale[0], units.y_scale
    if standardised:
        inputs = units.standardise_inputs(X[:, None])
        rows, length, scale = (inputs, units.standardise_targets(Y)[:, None]), 1.0, 1.0
    kernel = gpflow.kernels.SquaredExponential(scale**2, 0.5 * length)
    model = GPR(rows, kernel, noise_variance=0.1 * scale**2)
    gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables)
    return model


@pytest.mark.parametrize("standardised", [True, False])
def test_trained_model__goes_back_in(exact: Selection, standardised: bool) -> None:
    alone = replace(exact, fits=(exact.fit_of("LIN"),))
    model = trained(standardised, exact)
    found = alone.with_model(model, "SE")
    assert [str(own.expression) for own in found.fits] == ["LIN", "SE"]
    own, expected = found.fit_of("SE"), exact.fit_of("SE")
    np.testing.assert_allclose(own.theta, expected.theta, atol=0.02)
    assert own.modes[0].log_likelihood == pytest.approx(expected.modes[0].log_likelihood, abs=0.01)
    assert found.best is own


def test_model_that_went_out__comes_back(exact: Selection) -> None:
    model = exact.model("SE")
    model.kernel.lengthscales.assign(3.0 * model.kernel.lengthscales)
    again = exact.with_model(model)
    assert len(again.fits) == len(exact.fits)
    expected = exact.fit_of("SE").log_evidence()
    assert again.fit_of("SE").log_evidence() >= expected - 1e-6
    kept = again.fit_of("SE") is exact.fit_of("SE")
    did = "keeps the fit it had" if kept else "has the fit from the model given"
    assert again.notices[-1] == f"'SE' {did}, which has the higher evidence."


def test_parameters_that_are_not_trainable__are_held(exact: Selection) -> None:
    model = exact.model("SE")
    model.kernel.lengthscales.assign(0.9)
    gpflow.set_trainable(model.kernel.lengthscales, False)
    found = replace(exact, fits=(exact.fit_of("LIN"),)).with_model(model).fit_of("SE")
    assert found.fixed
    assert np.exp(found.theta[found.fixed[0]]) == pytest.approx(0.9)


def test_mistakes__are_told_in_one_line(exact: Selection, stochastic: Selection) -> None:
    kernel, rows = gpflow.kernels.SquaredExponential(), (X[:, None], Y[:, None])
    other = GPR((X[:5, None], Y[:5, None]), kernel)
    linear = GPR(rows, kernel, mean_function=gpflow.functions.Linear())
    poisson = SVGP(kernel, gpflow.likelihoods.Poisson(), X[:4, None])
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("reads as 'SE', not 'LIN'", GPR(rows, kernel), {"expression": "LIN"}),
        ("the model was trained on other data: \\[5, 1\\] inputs", other, {}),
        ("the model has the mean function Linear, which has no place", linear, {}),
        ("the model has the likelihood Poisson, but the selection", poisson, {}),
        ("a GPflow model is needed, got a str", "GPR", {}),
        ("the warp of the model is 'log', expected one of identity", other, {"warp": "log"}),
    ]
    for message, model, settings in cases:
        with pytest.raises(DataError, match=message):
            exact.with_model(model, **settings)
    with pytest.raises(DataError, match="num_samples is 0, expected at least 1"):
        exact.model("SE", posterior=True, num_samples=0)
