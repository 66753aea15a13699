from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.keras import tf_keras
from gpflow.likelihoods import Bernoulli, Gaussian, StudentT
from gpflow.models import SVGP
from gpflow.utilities import parameter_dict
from scipy.special import logsumexp
from scipy.stats import norm, qmc

from vbks.errors import VbksError
from vbks.grammar.expression import Expression
from vbks.grammar.space import K12
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.linear import positive_parameter
from vbks.predict.models.variational_svgp import PREDICTION_SEED, VariationalSVGP

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2.0, 2.0, (12, 1)), axis=0)
Y = np.sin(2.0 * X) + 0.2 * RNG.normal(size=X.shape)
Z = np.linspace(-1.5, 1.5, 4)[:, None]
ETA = RNG.normal(size=(2, 3))

LIKELIHOODS: dict[str, Callable[[], gpflow.likelihoods.Likelihood]] = {
    "Gaussian": lambda: Gaussian(0.2),
    "Bernoulli": Bernoulli,
    "StudentT": lambda: StudentT(0.3),
}


def kernel() -> gpflow.kernels.Kernel:
    return gpflow.kernels.SquaredExponential(0.8, 0.9)


def variational_parameters(num_outputs: int = 1, q_diag: bool = False) -> dict[str, Any]:
    """A q(u) that is not the prior."""
    rng = np.random.default_rng(1)
    factor = np.tril(0.2 * rng.normal(size=(num_outputs, 4, 4))) + 0.5 * np.eye(4)
    return {
        "num_latent_gps": num_outputs,
        "q_diag": q_diag,
        "q_mu": rng.normal(size=(4, num_outputs)),
        "q_sqrt": rng.uniform(0.3, 0.9, (4, num_outputs)) if q_diag else factor,
    }


def make(**arguments: Any) -> VariationalSVGP:
    likelihood = arguments.pop("likelihood", None) or Gaussian(0.2)
    return VariationalSVGP(kernel(), likelihood, Z, **{**variational_parameters(), **arguments})


def make_wide(**arguments: Any) -> VariationalSVGP:
    """A model whose q(θ) is wide, correlated and off its prior."""
    model = make(**arguments)
    model.theta_mean.assign_add([0.1, -0.2, 0.3])
    if model.q_theta.sqrt is not None:
        wide = np.array([[0.4, 0.0, 0.0], [0.1, 0.3, 0.0], [-0.2, 0.1, 0.5]])
        model.q_theta.sqrt.assign(wide if model.q_theta.sqrt.shape.rank == 2 else np.diag(wide))
    return model


def at(model: VariationalSVGP, theta: np.ndarray) -> SVGP:
    """An ordinary SVGP at θ, by assignment of every number by its name."""
    svgp = model.at_mean()
    parameters = parameter_dict(svgp)
    for name, value in zip(model.theta_names, theta, strict=True):
        parameters[name].unconstrained_variable.assign(value)
    return svgp


def thetas(model: VariationalSVGP, eta: np.ndarray) -> np.ndarray:
    return model.theta_mean.numpy() + eta @ np.linalg.cholesky(model.theta_covariance).T


def value_and_gradients(model: VariationalSVGP, data: Any, eta: Any) -> list[np.ndarray]:
    with tf.GradientTape() as tape:
        value = model.elbo(data, eta)
    gradients = tape.gradient(value, model.trainable_variables)
    return [value.numpy(), *(gradient.numpy() for gradient in gradients)]


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_elbo__of_a_point_is_that_of_gpflow(name: str, whiten: bool) -> None:
    arguments = {**variational_parameters(), "whiten": whiten, "num_data": 12}
    target = (Y > 0.0).astype(float) if name == "Bernoulli" else Y
    batch = X[:5], target[:5]
    svgp = SVGP(kernel(), LIKELIHOODS[name](), Z, **arguments)
    model = make(covariance="point", likelihood=LIKELIHOODS[name](), **arguments)
    np.testing.assert_allclose(model.elbo(batch), svgp.elbo(batch), rtol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("whiten", [True, False])
def test_elbo__is_the_mean_over_assigned_parameters_less_the_kl(
    covariance: str, whiten: bool
) -> None:
    arguments = variational_parameters(2, q_diag=covariance == "diagonal")
    model = make_wide(covariance=covariance, whiten=whiten, **arguments)
    data = X, np.hstack([Y, -Y])
    values = [at(model, theta).elbo(data) for theta in thetas(model, ETA)]
    q = tfp.distributions.MultivariateNormalFullCovariance(model.theta_mean, model.theta_covariance)
    start = make().theta_mean.numpy()
    p = tfp.distributions.MultivariateNormalDiag(start, np.full(3, 1.5))
    np.testing.assert_allclose(
        model.elbo(data, ETA), np.mean(values) - q.kl_divergence(p), rtol=1e-8
    )


def test_elbo__and_its_gradient_are_unbiased_over_minibatches() -> None:
    model = make_wide(num_data=12)
    batches = [(X[rows], Y[rows]) for rows in np.split(np.random.default_rng(2).permutation(12), 3)]
    of_batches = zip(*[value_and_gradients(model, batch, ETA) for batch in batches], strict=True)
    for parts, expected in zip(of_batches, value_and_gradients(model, (X, Y), ETA), strict=True):
        np.testing.assert_allclose(np.mean(parts, axis=0), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_elbo__has_the_gradients_of_finite_differences(covariance: str) -> None:
    model = make_wide(covariance=covariance, whiten=False)
    variables = model.q_theta.trainable_variables
    with tf.GradientTape() as tape:
        value = model.elbo((X, Y), ETA)
    for variable, gradient in zip(variables, tape.gradient(value, variables), strict=True):
        direction = np.random.default_rng(3).normal(size=variable.shape)
        variable.assign_add(1e-5 * direction)
        above = model.elbo((X, Y), ETA)
        variable.assign_sub(2e-5 * direction)
        below = model.elbo((X, Y), ETA)
        variable.assign_add(1e-5 * direction)
        slope = np.sum(gradient * direction)
        np.testing.assert_allclose(slope, (above - below) / 2e-5, rtol=1e-6)


def test_elbo__leaves_kernel_and_likelihood_as_they_were() -> None:
    given = kernel()
    model = VariationalSVGP(given, Gaussian(0.2), Z)
    value_and_gradients(model, (X, Y), None)
    for k in (given, model.kernel):
        assert k.variance.numpy() == pytest.approx(0.8)
        assert k.lengthscales.numpy() == pytest.approx(0.9)
    assert len(given.trainable_variables) == 2
    assert model.kernel.trainable_variables == ()
    assert model.likelihood.trainable_variables == ()


def test_elbo__compiles_for_any_eta() -> None:
    model = make_wide()
    compiled = tf.function(
        lambda eta: model.elbo((X, Y), eta), input_signature=[tf.TensorSpec([None, 3], tf.float64)]
    )
    for eta in (ETA, ETA[:1]):
        np.testing.assert_allclose(compiled(eta), model.elbo((X, Y), eta), rtol=1e-10)


def test_elbo__draws_anew_at_every_call() -> None:
    model = make_wide(num_samples=1)
    assert model.elbo((X, Y)) != model.elbo((X, Y))


@pytest.mark.parametrize(("whiten", "q_diag"), [(True, False), (False, True)])
def test_elbo__with_sampled_inducing_values_has_the_same_mean(whiten: bool, q_diag: bool) -> None:
    arguments = {**variational_parameters(1, q_diag), "whiten": whiten}
    model = make(sample_inducing=True, **arguments)
    # Of these points mean and covariance are those of η, so that they integrate quadratics exactly.
    size = 4
    sigma_points = np.sqrt(size) * np.vstack([np.eye(size), -np.eye(size)])
    eta = np.hstack([np.full((2 * size, 3), 0.5), sigma_points])
    expected = make(**arguments).elbo((X, Y), np.full((1, 3), 0.5))
    np.testing.assert_allclose(model.elbo((X, Y), eta), expected, rtol=1e-8)
    assert model.draw_eta(5).shape == (5, 3 + size)


@pytest.mark.parametrize("expression", K12, ids=str)
def test_elbo__of_expressions_has_finite_gradients(expression: Expression) -> None:
    model = VariationalSVGP(to_gpflow(expression), Gaussian(0.2), Z, **variational_parameters())
    assert len(model.theta_names) >= 3
    found = value_and_gradients(model, (X, Y), model.draw_eta(1))
    assert all(np.all(np.isfinite(gradient)) for gradient in found)
    assert all(np.any(gradient != 0.0) for gradient in found)


def test_adam__raises_the_elbo() -> None:
    tf.random.set_seed(0)
    model = make(num_data=12, num_samples=1)
    batches = iter(tf.data.Dataset.from_tensor_slices((X, Y)).repeat().shuffle(50, 3).batch(6))
    loss = model.training_loss_closure(batches)
    before = model.elbo((X, Y), ETA)
    optimiser = tf_keras.optimizers.Adam(0.02)
    for _ in range(40):
        optimiser.minimize(loss, model.trainable_variables)
    assert model.elbo((X, Y), ETA) > before + 10.0
    assert np.all(model.theta_mean.numpy() != model.q_theta.prior_mean)


def test_scipy__with_fixed_eta_reaches_an_optimum() -> None:
    model = make(covariance="diagonal")
    gpflow.set_trainable(model.inducing_variable, False)
    before = model.elbo((X, Y), ETA)
    loss = tf.function(lambda: -model.elbo((X, Y), ETA), autograph=False)
    result = gpflow.optimizers.Scipy().minimize(
        loss, model.trainable_variables, options={"maxiter": 300}
    )
    assert result.success
    assert -result.fun > before + 5.0
    assert np.all(np.abs(result.jac) < 1e-2)


def test_elbo__is_below_the_evidence_and_close_to_it_once_trained() -> None:
    """A constant plus noise, of which one inducing value knows all that can be known."""
    targets = 0.8 + 0.5 * np.random.default_rng(0).normal(size=(12, 1))
    constant, likelihood = gpflow.kernels.Constant(), Gaussian()
    constant.variance, likelihood.variance = positive_parameter(1.0), positive_parameter(0.3)
    model = VariationalSVGP(constant, likelihood, [[0.0]], whiten=False, prior_sd=1.0)
    gpflow.set_trainable(model.inducing_variable, False)
    compiled = tf.function(lambda eta: model.elbo((X, targets), eta), autograph=False)
    draw = qmc.MultivariateNormalQMC(np.zeros(2), seed=np.random.default_rng(0))
    stratified = tf.constant(draw.random(128))

    exact = log_evidence_of_a_constant(targets[:, 0])
    assert compiled(stratified) < exact
    gpflow.optimizers.Scipy().minimize(lambda: -compiled(stratified), model.trainable_variables)
    normal = np.random.default_rng(1).standard_normal
    fresh = [compiled(tf.constant(normal((128, 2)))) for _ in range(30)]
    error = np.std(fresh) / np.sqrt(len(fresh))
    assert exact - 0.5 < np.mean(fresh) < exact + 3.0 * error


def log_evidence_of_a_constant(y: np.ndarray) -> float:
    """log ∫ N(y; 0, s11ᵀ + nI) p(s, n), with log s ~ N(0, 1) and log n ~ N(log 0.3, 1)."""
    grid = np.linspace(-7.0, 7.0, 301)
    s, n = np.exp(grid)[:, None], 0.3 * np.exp(grid)
    of_mean = norm.logpdf(np.sqrt(len(y)) * y.mean(), scale=np.sqrt(n + len(y) * s))
    rest = (len(y) - 1) * np.log(2.0 * np.pi * n) + np.sum((y - y.mean()) ** 2) / n
    prior = norm.logpdf(grid)[:, None] + norm.logpdf(grid)
    return logsumexp(of_mean - 0.5 * rest + prior) + 2.0 * np.log(grid[1] - grid[0])


def test_training_loss__counts_no_prior_twice() -> None:
    k = kernel()
    k.variance.prior = tfp.distributions.Gamma(np.float64(2.0), np.float64(3.0))
    assert VariationalSVGP(k, Gaussian(), Z).log_prior_density() == 0.0
    point = VariationalSVGP(k, Gaussian(), Z, covariance="point", prior_mean=0.5, prior_sd=2.0)
    prior = tfp.distributions.Normal(np.float64(0.5), np.float64(2.0))
    expected = point.elbo((X, Y)) + tf.reduce_sum(prior.log_prob(point.theta_mean))
    np.testing.assert_allclose(-point.training_loss((X, Y)), expected, rtol=1e-10)


def test_theta__has_the_names_and_values_of_trainable_parameters() -> None:
    k = kernel() + gpflow.kernels.Linear()
    gpflow.set_trainable(k.kernels[1], False)
    model = VariationalSVGP(k, StudentT(), Z, mean_function=gpflow.functions.Constant())
    assert model.theta_names == (
        ".kernel.kernels[0].variance",
        ".kernel.kernels[0].lengthscales",
        ".likelihood.scale",
    )
    assert set(model.theta_names) <= set(parameter_dict(model))
    unconstrained = [
        k.kernels[0].variance.unconstrained_variable,
        k.kernels[0].lengthscales.unconstrained_variable,
        StudentT().scale.unconstrained_variable,
    ]
    np.testing.assert_allclose(model.theta_mean, unconstrained, rtol=1e-12)
    assert len(model.mean_function.trainable_variables) == 1


def test_at_mean__is_an_ordinary_model_at_the_mean_of_theta() -> None:
    model = make_wide(whiten=False, num_data=12)
    svgp = model.at_mean()
    assert type(svgp) is SVGP
    np.testing.assert_allclose(
        svgp.elbo((X, Y)),
        make_wide(covariance="point", whiten=False, num_data=12).elbo((X, Y)),
        rtol=1e-10,
    )
    assert len(svgp.kernel.trainable_variables) == 2
    own = svgp.kernel.variance.numpy()
    svgp.kernel.variance.assign(5.0)
    svgp.q_mu.assign(svgp.q_mu + 1.0)
    assert model.kernel.variance.numpy() == pytest.approx(own)
    assert np.all(model.q_mu.numpy() != svgp.q_mu.numpy())


@pytest.fixture
def predicting() -> tuple[VariationalSVGP, list[SVGP]]:
    """A model, and ordinary SVGPs at the samples of θ that its predictions are averaged over."""
    model = make_wide(num_prediction_samples=3, **variational_parameters(2))
    eta = tf.random.stateless_normal([3, 3], PREDICTION_SEED, dtype=tf.float64).numpy()
    return model, [at(model, theta) for theta in thetas(model, eta)]


@pytest.mark.parametrize("method", ["predict_f", "predict_y"])
def test_predictions__have_the_moments_of_the_mixture(
    method: str, predicting: tuple[VariationalSVGP, list[SVGP]]
) -> None:
    model, svgps = predicting
    moments = [getattr(svgp, method)(X) for svgp in svgps]
    means = np.array([mean for mean, _ in moments])
    variances = np.array([variance for _, variance in moments])
    mean, variance = getattr(model, method)(X)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(variance, variances.mean(axis=0) + means.var(axis=0), rtol=1e-8)


def test_predict_f__has_the_full_covariance_of_the_mixture(
    predicting: tuple[VariationalSVGP, list[SVGP]],
) -> None:
    model, svgps = predicting
    moments = [svgp.predict_f(X, full_cov=True, full_output_cov=True) for svgp in svgps]
    flat = np.array([np.ravel(mean) for mean, _ in moments])
    within = np.mean([covariance for _, covariance in moments], axis=0)
    between = np.cov(flat.T, bias=True).reshape(within.shape)
    _, covariance = model.predict_f(X, full_cov=True, full_output_cov=True)
    np.testing.assert_allclose(covariance, within + between, rtol=1e-8, atol=1e-10)
    rows, outputs = np.arange(len(X)), np.arange(2)
    _, over_rows = model.predict_f(X, full_cov=True)
    _, over_outputs = model.predict_f(X, full_output_cov=True)
    full = covariance.numpy()
    np.testing.assert_allclose(over_rows, full[:, outputs, :, outputs], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(over_outputs, full[rows, :, rows], rtol=1e-8, atol=1e-10)


def test_predict_log_density__is_that_of_the_mixture(
    predicting: tuple[VariationalSVGP, list[SVGP]],
) -> None:
    model, svgps = predicting
    data = X, np.hstack([Y, -Y])
    densities = np.exp([svgp.predict_log_density(data) for svgp in svgps])
    np.testing.assert_allclose(
        model.predict_log_density(data), np.log(densities.mean(axis=0)), rtol=1e-10
    )


def test_prior_kl__is_averaged_over_theta() -> None:
    model = make_wide(whiten=False, num_prediction_samples=3)
    eta = tf.random.stateless_normal([3, 3], PREDICTION_SEED, dtype=tf.float64).numpy()
    expected = np.mean([at(model, theta).prior_kl() for theta in thetas(model, eta)])
    np.testing.assert_allclose(model.prior_kl(), expected, rtol=1e-10)


def test_predict_f_samples__spread_as_far_as_the_mixture() -> None:
    tf.random.set_seed(0)
    model = make_wide(num_prediction_samples=400)
    points = X[:2]
    predict = tf.function(model.predict_f, autograph=False)
    draw = tf.function(model.predict_f_samples, autograph=False)
    mean, variance = predict(points)
    samples = draw(points, 2_000).numpy()
    assert samples.shape == (2_000, 2, 1)
    assert model.predict_f_samples(points).shape == (2, 1)
    error = np.sqrt(variance / 2_000 + variance / 400)
    assert np.all(np.abs(samples.mean(axis=0) - mean) < 4.0 * error)
    np.testing.assert_allclose(samples.var(axis=0), variance, rtol=0.3)


def test_posterior__is_that_of_the_mean_of_theta() -> None:
    model = make_wide()
    expected = model.at_mean().predict_f(X)
    for found, value in zip(model.posterior().predict_f(X), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-8)


def test_model__needs_a_trainable_parameter() -> None:
    k = kernel()
    gpflow.set_trainable(k, False)
    with pytest.raises(VbksError, match=r"no θ to be uncertain about\. Use gpflow"):
        VariationalSVGP(k, Bernoulli(), Z)


def test_elbo__names_the_columns_that_eta_needs() -> None:
    with pytest.raises(VbksError, match=r"eta must have 3 columns, .* got 2"):
        make().elbo((X, Y), np.zeros((4, 2)))


def test_model__needs_a_sample() -> None:
    with pytest.raises(VbksError, match=r"must be at least 1, got 0 and 32"):
        make(num_samples=0)


def test_summary__has_values_at_the_mean_of_theta_and_spreads(capsys: Any) -> None:
    model = make_wide()
    model.theta_mean.assign([0.5, -0.4, -1.0])
    gpflow.utilities.print_summary(model, fmt="plain")
    printed = capsys.readouterr().out.splitlines()
    expected, sds = model.at_mean(), dict(zip(model.theta_names, model.theta_sd, strict=True))
    for path in ("kernel.variance", "kernel.lengthscales", "likelihood.variance"):
        found, own = (parameter_dict(m)[f".{path}"] for m in (model, expected))
        np.testing.assert_allclose(found, own, rtol=1e-12)
        (row,) = [line for line in printed if f"VariationalSVGP.{path} " in line]
        assert float(row.split()[-1]) == pytest.approx(own.numpy(), rel=1e-4)
        assert not found.trainable
        assert "MeanOfTheta" in row
        (row,) = [line for line in printed if f"standard_deviations['{path}']" in line]
        assert float(row.split()[-1]) == pytest.approx(sds[f".{path}"].numpy(), rel=1e-4)
    np.testing.assert_allclose(model.theta_sd, np.sqrt(np.diag(model.theta_covariance)), rtol=1e-12)
    table = model.summary()
    assert tuple(table.index) == model.theta_names
    lengthscale = table.loc[".kernel.lengthscales"]
    softplus = gpflow.utilities.positive()
    for column, number in (("low", -1.6448536), ("value", 0.0), ("high", 1.6448536)):
        theta = lengthscale["mean"] + number * lengthscale["sd"]
        assert lengthscale[column] == pytest.approx(float(softplus(theta)), rel=1e-6)


def test_parameters__are_views_of_the_mean_of_theta() -> None:
    model, other = make_wide(), make_wide()
    model.kernel.lengthscales.assign(2.5)
    place = model.theta_names.index(".kernel.lengthscales")
    assert float(gpflow.utilities.positive()(model.theta_mean[place])) == pytest.approx(2.5)
    assert model.at_mean().kernel.lengthscales.numpy() == pytest.approx(2.5)
    values = gpflow.utilities.read_values(model)
    gpflow.utilities.multiple_assign(other, values)
    for path, value in gpflow.utilities.read_values(other).items():
        np.testing.assert_allclose(value, values[path], rtol=1e-9, atol=1e-12)
    copied = gpflow.utilities.deepcopy(model)
    copied.kernel.lengthscales.assign(1.0)
    assert model.kernel.lengthscales.numpy() == pytest.approx(2.5)
    assert copied.kernel.lengthscales.numpy() == pytest.approx(1.0)
    trained = {id(variable) for variable in model.trainable_variables}
    parts = (model.q_theta, model.q_mu, model.q_sqrt, model.inducing_variable)
    assert trained == {id(v) for part in parts for v in part.trainable_variables}
