from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import gpflow
import numpy as np
import pytest
from support.reference import kernel_matrix

from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.errors import DataError
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import InducingPosterior, LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.predict.models.gpflow_models import gpflow_model

TEXTS = ("SE", "SE * PER + LIN", "SE + WN", "(SE + WN) * LIN")
JITTER = gpflow.config.default_jitter()
NUM_INDUCING = 8


@cache
def make_data() -> TrainingData:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(3, 9, 30))
    return prepare((X, 100 + 5 * np.sin(2 * X) + rng.normal(size=30)))


def make_fit(text: str, bound: str, **changes: Any) -> LocalFit:
    """A fit at some θ; nothing here depends on where θ comes from."""
    layout, rng = lay_out(text), np.random.default_rng(1)
    theta = 0.3 * rng.normal(size=len(layout))
    theta[0] = np.log(0.3)
    mode = Mode(theta, np.zeros((len(theta), len(theta))), 1.0, 0.0, 0.0, 0.0)
    root = np.tril(0.3 * rng.normal(size=(NUM_INDUCING, NUM_INDUCING))) + np.eye(NUM_INDUCING)
    settings: dict[str, Any] = {
        "expression": parse(text),
        "num_inputs": 1,
        "num_rows": 30,
        "bound": bound,
        "posterior": "point",
        "num_free": len(theta),
        "modes": (mode,),
        "inducing": None if bound == "exact" else make_data().arrays()[0][::4],
        "q_u": InducingPosterior(rng.normal(size=NUM_INDUCING), root @ root.T),
        "jitter": 0.0 if bound == "exact" else JITTER,
    }
    return LocalFit(**settings | changes)


class Naive:
    """Kernel matrices of a fit from the twin, white noise apart."""

    def __init__(self, fit: LocalFit) -> None:
        self.layout, self.theta = lay_out(fit.expression), fit.theta

    def K(self, X1: Array, X2: Array) -> Array:
        return kernel_matrix(self.layout, self.theta, X1, X2)

    def noise(self, X: Array) -> Array:
        """White noise on the diagonal, and that of the likelihood unless it is the same number."""
        white = np.diag(kernel_matrix(self.layout, self.theta, X)) - np.diag(self.K(X, X))
        merged = self.layout.expression == parse("SE + WN")
        return white + (0.0 if merged else np.exp(self.theta[0]))

    def exact(self, X: Array, y: Array, Xnew: Array) -> tuple[Array, Array]:
        covariance = self.K(X, X) + np.diag(self.noise(X))
        cross = self.K(Xnew, X)
        mean = cross @ np.linalg.solve(covariance, y)
        spread = np.diag(cross @ np.linalg.solve(covariance, cross.T))
        return mean, np.diag(self.K(Xnew, Xnew)) - spread

    def from_u(self, Z: Array, mean: Array, covariance: Array, Xnew: Array) -> tuple[Array, Array]:
        """Moments of f at new inputs, given those of q(u)."""
        Kuu = self.K(Z, Z) + JITTER * np.eye(len(Z))
        A = np.linalg.solve(Kuu, self.K(Z, Xnew)).T
        return A @ mean, np.diag(self.K(Xnew, Xnew) - A @ (Kuu - covariance) @ A.T)

    def collapsed(self, X: Array, y: Array, Z: Array, Xnew: Array) -> tuple[Array, Array]:
        """Titsias' optimal q(u)."""
        Kuu = self.K(Z, Z) + JITTER * np.eye(len(Z))
        Kuf, precision = self.K(Z, X), np.diag(1 / self.noise(X))
        inner = np.linalg.inv(Kuu + Kuf @ precision @ Kuf.T)
        mean, covariance = Kuu @ inner @ Kuf @ precision @ y, Kuu @ inner @ Kuu
        return self.from_u(Z, mean, covariance, Xnew)


def inputs() -> Array:
    return np.linspace(-2.5, 2.5, 7)[:, None]


def assert_predicts(model: Any, expected: tuple[Array, Array], atol: float = 1e-8) -> None:
    mean, variance = model.predict_f(inputs())
    np.testing.assert_allclose(mean[:, 0], expected[0], atol=atol)
    np.testing.assert_allclose(variance[:, 0], expected[1], atol=atol)


@pytest.mark.parametrize("text", TEXTS)
def test_gpr__predicts_as_by_hand(text: str) -> None:
    fit, data = make_fit(text, "exact"), make_data()
    model = gpflow_model(fit, data)
    assert isinstance(model, gpflow.models.GPR)
    assert_predicts(model, Naive(fit).exact(*data.arrays(), inputs()))


@pytest.mark.parametrize("text", TEXTS[:3])
def test_sgpr__predicts_as_by_hand(text: str) -> None:
    fit, data = make_fit(text, "collapsed"), make_data()
    model = gpflow_model(fit, data)
    assert isinstance(model, gpflow.models.SGPR)
    expected = Naive(fit).collapsed(*data.arrays(), fit.inducing, inputs())
    # The twin inverts a matrix whose condition is the square of Kuu's.
    assert_predicts(model, expected, atol=1e-6)


@pytest.mark.parametrize("text", TEXTS[:3])
def test_svgp__predicts_as_by_hand(text: str) -> None:
    fit, data = make_fit(text, "stochastic"), make_data()
    model = gpflow_model(fit, data)
    assert isinstance(model, gpflow.models.SVGP)
    naive = Naive(fit)
    L = np.linalg.cholesky(naive.K(fit.inducing, fit.inducing) + JITTER * np.eye(NUM_INDUCING))
    mean, covariance = L @ fit.q_u.mean, L @ fit.q_u.covariance @ L.T
    assert_predicts(model, naive.from_u(fit.inducing, mean, covariance, inputs()))
    assert model.num_data == 30


@pytest.mark.parametrize("bound", ["exact", "collapsed", "stochastic"])
@pytest.mark.parametrize("text", ["SE", "SE + WN"])
def test_noise__is_that_of_slot_zero_and_in_the_likelihood(bound: str, text: str) -> None:
    model = gpflow_model(make_fit(text, bound), make_data())
    np.testing.assert_allclose(model.likelihood.variance, 0.3, rtol=1e-12)
    _, of_f = model.predict_f(inputs())
    _, of_y = model.predict_y(inputs())
    np.testing.assert_allclose(of_y - of_f, 0.3, atol=1e-10)


def test_jitter_of_an_exact_fit__is_part_of_the_noise() -> None:
    model = gpflow_model(make_fit("SE", "exact", jitter=0.01), make_data())
    np.testing.assert_allclose(model.likelihood.variance, 0.31, rtol=1e-12)
    more, plain = (
        gpflow_model(make_fit("SE + WN * LIN", "exact", jitter=jitter), make_data())
        for jitter in (0.01, 0.0)
    )
    variances = [model.likelihood.variance_at(inputs()) for model in (more, plain)]
    np.testing.assert_allclose(variances[0] - variances[1], 0.01, rtol=1e-9)


def test_noise_below_the_bound_of_gpflow__is_kept() -> None:
    fit = make_fit("SE", "exact")
    theta = fit.theta.copy()
    theta[0] = np.log(1e-9)
    model = gpflow_model(replace(fit, modes=(replace(fit.modes[0], mean=theta),)), make_data())
    np.testing.assert_allclose(model.likelihood.variance, 1e-9, rtol=1e-6)


@pytest.mark.parametrize("text", ["SE + WN * LIN", "(SE + WN) * LIN"])
def test_noise_that_depends_on_the_inputs__is_so_in_gpr(text: str) -> None:
    fit, data = make_fit(text, "exact"), make_data()
    model, naive = gpflow_model(fit, data), Naive(fit)
    X, y = data.arrays()
    _, of_f = model.predict_f(inputs())
    _, of_y = model.predict_y(inputs())
    noise = naive.noise(inputs())
    assert np.ptp(noise) > 0.1
    np.testing.assert_allclose((of_y - of_f)[:, 0], noise, atol=1e-8)
    assert_predicts(model, naive.exact(X, y, inputs()))
    covariance = naive.K(X, X) + np.diag(naive.noise(X))
    log_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
    dense = -0.5 * (log_det + y @ np.linalg.solve(covariance, y))
    np.testing.assert_allclose(model.log_marginal_likelihood(), dense, atol=1e-8)


def test_other_likelihood__has_the_learned_parameter() -> None:
    fit, data = make_fit("SE", "stochastic"), make_data().with_level(5.0, 2.0)
    model = gpflow_model(fit, data, make_likelihood("student_t"))
    assert isinstance(model.likelihood, gpflow.likelihoods.StudentT)
    np.testing.assert_allclose(model.likelihood.scale, 0.3 / 2.0, rtol=1e-9)


def test_scale_that_is_held__stays_in_the_units_of_the_targets() -> None:
    """A held scale of 0.3 is one of 0.15 for targets in units of 2."""
    held = gpflow.likelihoods.StudentT(0.3)
    gpflow.set_trainable(held, False)
    fit, data = make_fit("SE", "stochastic"), make_data().with_level(5.0, 2.0)
    model = gpflow_model(fit, data, make_likelihood(held))
    other = gpflow_model(fit, data, make_likelihood("student_t"))
    other.likelihood.scale.assign(0.15)
    X, Y = inputs(), np.linspace(-1, 1, len(inputs()))[:, np.newaxis]
    for name, given in (("predict_f", X), ("predict_y", X)):
        for found, expected in zip(
            getattr(model, name)(given), getattr(other, name)(given), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(model.elbo((X, Y)), other.elbo((X, Y)), rtol=1e-10)
    densities = (m.predict_log_density((X, Y)) for m in (model, other))
    np.testing.assert_allclose(*densities, rtol=1e-10)
    F = np.linspace(0, 1, len(X))[:, np.newaxis]
    ours, theirs = model.likelihood, other.likelihood
    np.testing.assert_allclose(ours.log_prob(X, F, Y), theirs.log_prob(X, F, Y), rtol=1e-10)
    np.testing.assert_allclose(ours.conditional_mean(X, F), F, rtol=1e-10)
    variances = (part.conditional_variance(X, F) for part in (ours, theirs))
    np.testing.assert_allclose(*variances, rtol=1e-10)


def test_highest_mode__is_the_one_taken() -> None:
    fit = make_fit("SE", "exact")
    other = replace(fit.modes[0], mean=fit.theta + 1.0)
    two = replace(fit, modes=(fit.modes[0], other))
    one_mean, _ = gpflow_model(fit, make_data()).predict_f(inputs())
    two_mean, _ = gpflow_model(two, make_data()).predict_f(inputs())
    np.testing.assert_array_equal(one_mean, two_mean)


def test_predictions__are_told_in_the_units_of_the_data() -> None:
    """A GPR of centred targets in their own units says the same."""
    data, fit = make_data(), make_fit("SE", "exact")
    noise, variance, lengthscale = np.exp(fit.theta)
    units = data.units
    X, y = units.restore_inputs(data.arrays()[0]), units.restore_targets(data.arrays()[1])
    kernel = gpflow.kernels.SquaredExponential(
        variance * units.y_scale**2, lengthscale * units.x_scale
    )
    own = gpflow.models.GPR(
        (X, (y - units.y_mean)[:, None]), kernel, noise_variance=noise * units.y_scale**2
    )
    Xnew = np.linspace(3, 9, 5)[:, None]
    own_mean, own_variance = own.predict_y(Xnew)
    mean, spread = gpflow_model(fit, data).predict_y(units.standardise_inputs(Xnew))
    np.testing.assert_allclose(
        units.restore_targets(mean.numpy()), own_mean + units.y_mean, atol=1e-8
    )
    np.testing.assert_allclose(units.restore_variances(spread.numpy()), own_variance, atol=1e-8)


@pytest.mark.parametrize("bound", ["collapsed", "stochastic"])
def test_sparse_fit_with_another_jitter__is_refused(bound: str) -> None:
    fit = make_fit("SE", bound, jitter=1e-3)
    message = r"'SE' was fitted with a jitter of 0.001, .* Call gpflow.config.set_default_jitter"
    with pytest.raises(DataError, match=message):
        gpflow_model(fit, make_data())
    with gpflow.config.as_context(replace(gpflow.config.config(), jitter=1e-3)):
        mean, _ = gpflow_model(fit, make_data()).predict_f(inputs())
    assert np.isfinite(mean).all()


def test_failed_fit__is_refused_with_the_reason() -> None:
    fit = make_fit("SE", "exact", modes=(), status="failed", reason="out of memory")
    with pytest.raises(DataError, match="'SE' has no θ: failed, out of memory"):
        gpflow_model(fit, make_data())


def test_dropped_stochastic_fit__has_no_model() -> None:
    fit = make_fit("SE", "stochastic", q_u=None, status="dropped", reason="40 nats behind")
    with pytest.raises(DataError, match=r"'SE' has no q\(u\): dropped, 40 nats behind"):
        gpflow_model(fit, make_data())
