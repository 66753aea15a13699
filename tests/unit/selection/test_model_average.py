from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.models import GPR, SGPR, SVGP
from scipy.special import logsumexp, softmax
from scipy.stats import norm

import vbks
from vbks.errors import DataError, GraphError, VbksError
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.selection.model_average import ModelAverage

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0.0, 10.0, (25, 1)), axis=0)
Y = np.sin(X) + 0.1 * X + 0.2 * RNG.normal(size=X.shape)
Z = X[::4]
XNEW = np.linspace(-1.0, 12.0, 6)[:, np.newaxis]
YNEW = np.cos(XNEW)


class Own(gpflow.kernels.SquaredExponential):
    """A kernel of a user's own."""

    def K_r2(self, r2: Any) -> Any:
        return self.variance / (1.0 + r2)


def gpr(kernel: Any = None, **settings: Any) -> GPR:
    kernel = gpflow.kernels.SquaredExponential(lengthscales=2.0) if kernel is None else kernel
    return GPR((X, Y), kernel, noise_variance=0.05, **settings)


def svgp(kind: type[SVGP] = SVGP, **settings: Any) -> SVGP:
    model = kind(gpflow.kernels.Matern32(), gpflow.likelihoods.Gaussian(0.05), Z, **settings)
    model.q_mu.assign(Y[::4])
    model.q_sqrt.assign(0.3 * np.eye(len(Z))[np.newaxis])
    return model


@pytest.fixture(scope="module")
def models() -> list[Any]:
    tf.random.set_seed(0)
    noise = gpflow.likelihoods.Gaussian(0.06)
    return [
        gpr(),
        gpr(Own(lengthscales=1.5), mean_function=gpflow.functions.Linear()),
        SGPR((X, Y), gpflow.kernels.Matern52(), Z, likelihood=noise),
        svgp(num_data=len(X)),
        svgp(VariationalSVGP, num_samples=2, num_prediction_samples=4),
    ]


@pytest.fixture(scope="module")
def average(models: list[Any]) -> ModelAverage:
    return vbks.average(models, data=(X, Y), temperature=30.0)


def test_belief__is_bayes_posterior_of_their_own_objectives(
    models: list[Any], average: ModelAverage
) -> None:
    values = [m.maximum_log_likelihood_objective() for m in models[:3]]
    values.append(models[3].elbo((X, Y)))
    np.testing.assert_allclose(average.log_evidences[:4], values, rtol=1e-10)
    bound = tf.function(models[4].elbo)((X, Y), models[4].draw_eta(1000))
    assert average.log_evidences[4] == pytest.approx(float(bound), abs=1.0)
    expected = softmax(average.log_evidences / 30.0)
    np.testing.assert_allclose(average.probabilities, expected, rtol=1e-10)
    assert average.best is models[int(np.argmax(expected))]
    table = average.belief
    np.testing.assert_allclose(table["probability"], sorted(expected, reverse=True), rtol=1e-10)
    assert set(table["model"]) == set(average.names)
    assert "GPR, SE" in average.names


@pytest.mark.parametrize("name", ["predict_f", "predict_y"])
def test_moments__are_those_of_a_naive_mixture(
    models: list[Any], average: ModelAverage, name: str
) -> None:
    found = [[v.numpy() for v in getattr(model, name)(XNEW)] for model in models]
    pairs = list(zip(average.probabilities, found, strict=True))
    expected = sum(w * mean for w, (mean, _) in pairs)
    second = sum(w * (variance + mean**2) for w, (mean, variance) in pairs)
    mean, variance = getattr(average, name)(XNEW)
    np.testing.assert_allclose(mean, expected, rtol=1e-10)
    np.testing.assert_allclose(variance, second - expected**2, rtol=1e-8)


def test_covariance_and_density__are_those_of_a_naive_mixture(
    models: list[Any], average: ModelAverage
) -> None:
    w = average.probabilities
    found = [[v.numpy() for v in model.predict_f(XNEW, full_cov=True)] for model in models]
    centre = sum(own * mean for own, (mean, _) in zip(w, found, strict=True))
    expected = sum(
        own * (C[0] + (mean - centre) @ (mean - centre).T)
        for own, (mean, C) in zip(w, found, strict=True)
    )
    np.testing.assert_allclose(average.predict_f(XNEW, full_cov=True)[1][0], expected, rtol=1e-8)
    terms = [np.asarray(model.predict_log_density((XNEW, YNEW))) for model in models]
    expected = logsumexp(terms, axis=0, b=w[:, np.newaxis])
    np.testing.assert_allclose(average.predict_log_density((XNEW, YNEW)), expected, rtol=1e-10)


def test_quantiles__have_the_levels_asked_for(models: list[Any], average: ModelAverage) -> None:
    levels = (0.05, 0.4, 0.95)
    quantiles = average.predict_quantiles(XNEW, levels).numpy()
    total = np.zeros(quantiles.shape)
    for w, model in zip(average.probabilities, models, strict=True):
        if isinstance(model, VariationalSVGP):
            means, variances = (v.numpy() for v in model.predict_at_samples(XNEW, of_y=True))
        else:
            means, variances = (v.numpy()[np.newaxis] for v in model.predict_y(XNEW))
        total += w * np.mean(norm.cdf(quantiles, means, np.sqrt(variances)), axis=0)
    np.testing.assert_allclose(total, np.tile(levels, (len(XNEW), 1)), atol=1e-9)


def test_samples__have_the_moments_of_the_mixture(average: ModelAverage) -> None:
    tf.random.set_seed(1)
    few = XNEW[[0, 3]]
    for name, moments in (("predict_f_samples", "predict_f"), ("predict_y_samples", "predict_y")):
        draws = getattr(average, name)(few, 600).numpy()
        assert draws.shape == (600, 2, 1)
        mean, variance = (v.numpy() for v in getattr(average, moments)(few))
        assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.0 * np.sqrt(variance / 600))
        np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.3)
    assert average.predict_y_samples(few).shape == (2, 1)


def test_gradient__is_that_of_finite_differences_and_graphs_work(models: list[Any]) -> None:
    average, Xnew = vbks.average(models[:3], temperature=30.0), tf.constant(XNEW)
    predict = tf.function(lambda X: average.predict_y(X)[1])
    with tf.GradientTape() as tape:
        tape.watch(Xnew)
        variance = predict(Xnew)
    step = 1e-5
    ends = [average.predict_y(XNEW + sign * step)[1].numpy() for sign in (1.0, -1.0)]
    expected = (ends[0] - ends[1]) / (2.0 * step)
    np.testing.assert_allclose(tape.gradient(variance, Xnew), expected, rtol=1e-5, atol=1e-8)
    batched = np.stack([XNEW, XNEW + 0.5])
    expected = [average.predict_f(x)[0] for x in batched]
    np.testing.assert_allclose(average.predict_f(batched)[0], expected, rtol=1e-10)
    expected = [average.predict_log_density((x, YNEW)) for x in batched]
    found = average.predict_log_density((batched, np.stack([YNEW, YNEW])))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(GraphError, match="quantiles of a mixture cannot be part of a graph"):
        tf.function(average.predict_quantiles, autograph=False)(Xnew)


def test_layer_of_the_paper_and_pruning__form_the_belief_anew(average: ModelAverage) -> None:
    layer = average.with_belief("vbks", prior_variance=0.5)
    assert layer.kernel_belief.factor is not None
    np.testing.assert_allclose(layer.probabilities, layer.belief["vbks"].sort_index()[
        [list(layer.belief["model"]).index(name) for name in layer.names]], rtol=1e-12)  # fmt: skip
    assert np.argmax(layer.probabilities) == np.argmax(average.probabilities)
    assert layer.correlations().shape == (5, 5)
    best = average.top(2)
    kept = np.argsort(-average.log_evidences)[:2]
    assert set(np.flatnonzero(best.probabilities)) == set(kept)
    expected = softmax(average.log_evidences[kept] / 30.0)
    np.testing.assert_allclose(best.probabilities[kept], expected, rtol=1e-10)
    assert len(best.averaged) == 2


def test_prior_and_evidences__may_be_given(models: list[Any]) -> None:
    two = models[:2]
    given = vbks.average(two, [0.0, np.log(3.0)], prior=[2.0, 1.0])
    np.testing.assert_allclose(given.probabilities, [0.4, 0.6])
    named = vbks.average(two, [0.0, 0.0], prior={"a": 3.0, "b": 1.0}, names=["a", "b"])
    np.testing.assert_allclose(named.probabilities, [0.75, 0.25])
    corrected, plain = (vbks.average(two, correction=c).log_evidences for c in ("bic", "none"))
    # Variance, lengthscale and noise, and the two numbers of the line.
    np.testing.assert_allclose(plain - corrected, 0.5 * np.log(25) * np.array([3.0, 5.0]))


class Broken(GPR):
    def maximum_log_likelihood_objective(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, "Cholesky decomposition failed")


def test_models_without_evidence__take_no_part_and_are_listed(models: list[Any]) -> None:
    broken = Broken((X, Y), gpflow.kernels.SquaredExponential())
    average = vbks.average([broken, models[0]], names=["broken", "good"])
    np.testing.assert_array_equal(average.probabilities, [0.0, 1.0])
    assert average.failures == {"broken": "its objective failed: Cholesky decomposition failed"}
    assert list(average.belief["status"]) == ["fitted", "failed"]
    np.testing.assert_allclose(average.predict_f(XNEW)[0], models[0].predict_f(XNEW)[0])
    given = vbks.average(models[:2], [np.nan, -3.0])
    assert list(given.failures.values()) == ["its log evidence is nan"]
    with pytest.raises(VbksError, match=r"none of 1 models has an evidence. broken: its objective"):
        vbks.average([broken], names=["broken"])


def test_mistakes__are_told_in_one_line(models: list[Any]) -> None:
    other = GPR((X, Y + 1.0), gpflow.kernels.SquaredExponential())
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("'GPR, SE \\(2\\)' was trained on other data than 'GPR, SE \\(1\\)'", [gpr(), other], {}),
        ("was trained on other data than 'data'", [gpr()], {"data": (X[:5], Y[:5])}),
        ("SVGP does not keep its data. Give data=\\(X, Y\\)", [models[3]], {}),
        ("has num_data=25, but data has 5 rows", [models[3]], {"data": (X[:5], Y[:5])}),
        ("there are no models to average", [], {}),
        ("model 1 is a str, expected a GPflow model such as GPR", ["GPR"], {}),
        (
            "log_evidences have the shape \\[2\\], expected \\[1\\]",
            [gpr()],
            {"log_evidences": [1, 2]},
        ),
        ("the prior is \\[-1.0\\], expected a number for each", [gpr()], {"prior": [-1.0]}),
        ("the prior has no number for 'GPR, SE'", [gpr()], {"prior": {"SE": 1.0}}),
        ("names are \\['a', 'a'\\], expected 2 different ones", [gpr()] * 2, {"names": ["a", "a"]}),
        ("belief 'stacking' is not known for models", [gpr()], {"belief": "stacking"}),
        ("setting 'weights' is not known for models", [gpr()], {"weights": "auto"}),
    ]
    for message, given, settings in cases:
        with pytest.raises(DataError, match=message):
            vbks.average(given, **settings)
    with pytest.raises(VbksError, match="an average is not trained"):
        vbks.average([gpr()]).maximum_log_likelihood_objective()
    poisson = SVGP(gpflow.kernels.Matern32(), gpflow.likelihoods.Poisson(), Z)
    average = vbks.average([poisson], [0.0])
    with pytest.raises(DataError, match=r"of targets of Poisson are not known. Ask for those of"):
        average.predict_quantiles(XNEW)
    assert average.predict_quantiles(XNEW, of_y=False).shape == (6, 3)
    assert np.all(average.predict_y_samples(XNEW, 3).numpy() % 1.0 == 0.0)
