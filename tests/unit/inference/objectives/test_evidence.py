import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
from vbks.kernels.bank.bank import Bank, num_traces
from vbks.kernels.gpflow.conversion import to_gpflow

EXPRESSIONS = ("SE", "SE * PER + LIN", "(RQ + LIN) * (SE + PER)", "CP[1](SE, RQ) + C")
JITTER = 1e-6


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-2, 2, size=(30, 1)), axis=0)
    return X, np.sin(4 * X[:, 0]) + 0.3 * rng.normal(size=30)


def draw(bank, samples=2, seed=0):
    rng = np.random.default_rng(seed)
    return 0.3 * rng.normal(size=(len(bank), samples, bank.num_slots))


def value_and_gradient(evidence, bank, theta):
    theta = tf.constant(theta)
    with tf.GradientTape() as tape:
        tape.watch(theta)
        value = evidence(bank, theta)
    return value.numpy(), tape.gradient(value, theta).numpy()


def test_exact__equals_gpr(data):
    X, y = data
    bank = Bank(EXPRESSIONS)
    theta = draw(bank)
    values = ExactEvidence(X, y, JITTER)(bank, theta).numpy()
    for k, layout in enumerate(bank.layouts):
        for s in range(2):
            own = theta[k, s, : len(layout)]
            kernel = to_gpflow(layout.expression, theta=own)
            model = gpflow.models.GPR(
                (X, y[:, None]), kernel, noise_variance=np.exp(own[0]) + JITTER
            )
            np.testing.assert_allclose(values[k, s], model.log_marginal_likelihood(), atol=1e-8)


def test_collapsed__equals_sgpr(data):
    X, y = data
    bank = Bank(EXPRESSIONS)
    theta = draw(bank)
    Z = X[::4]
    jitter = gpflow.default_jitter()
    values = CollapsedEvidence(X, y, Z, jitter)(bank, theta).numpy()
    for k, layout in enumerate(bank.layouts):
        own = theta[k, 0, : len(layout)]
        kernel = to_gpflow(layout.expression, theta=own)
        model = gpflow.models.SGPR((X, y[:, None]), kernel, Z, noise_variance=np.exp(own[0]))
        np.testing.assert_allclose(values[k, 0], model.elbo(), atol=1e-8)


def test_collapsed__is_below_exact_and_meets_it_when_every_row_is_inducing(data):
    X, y = data
    bank = Bank(EXPRESSIONS)
    theta = draw(bank)
    exact = ExactEvidence(X, y, 0.0)(bank, theta).numpy()
    sparse = CollapsedEvidence(X, y, X[::6])(bank, theta).numpy()
    assert (sparse <= exact + 1e-8).all()
    gaps = [
        np.abs(CollapsedEvidence(X, y, X, jitter)(bank, theta).numpy() - exact).max()
        for jitter in (1e-4, 1e-6, 1e-8)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-5


def test_white_noise_in_the_expression__is_noise_of_the_likelihood(data):
    X, y = data
    bank = Bank(["SE", "SE + WN", "SE * PER", "SE * PER + WN"])
    theta = draw(bank)
    theta[1], theta[3] = theta[0], theta[2]
    for evidence in (ExactEvidence(X, y), CollapsedEvidence(X, y, X[::3])):
        values = evidence(bank, theta).numpy()
        np.testing.assert_allclose(values[1], values[0], rtol=1e-12)
        np.testing.assert_allclose(values[3], values[2], rtol=1e-12)


def test_noise_that_depends_on_the_input__equals_a_dense_normal(data):
    X, y = data
    bank = Bank(["SE + WN * LIN"])
    theta = draw(bank, samples=1)
    covariance = bank(theta, X).numpy()[0, 0] + np.diag(bank.noise(theta, X).numpy()[0, 0])
    _, log_det = np.linalg.slogdet(2 * np.pi * covariance)
    dense = -0.5 * (log_det + y @ np.linalg.solve(covariance, y))
    np.testing.assert_allclose(ExactEvidence(X, y, 0.0)(bank, theta), [[dense]], atol=1e-8)
    np.testing.assert_allclose(CollapsedEvidence(X, y, X, 1e-10)(bank, theta), dense, atol=1e-4)


@pytest.mark.parametrize("kind", [ExactEvidence, CollapsedEvidence])
def test_gradient__equals_finite_differences(data, kind):
    X, y = data
    evidence = kind(X, y) if kind is ExactEvidence else kind(X, y, X[::3], 1e-6)
    bank = Bank([*EXPRESSIONS, "SE + WN * LIN"])
    theta = draw(bank)
    _, gradient = value_and_gradient(evidence, bank, theta)
    for slot in range(bank.num_slots):
        step = np.zeros(bank.num_slots)
        step[slot] = 1e-5
        finite = (evidence(bank, theta + step) - evidence(bank, theta - step)).numpy() / 2e-5
        scale = 1 + np.abs(finite)
        np.testing.assert_allclose(gradient[..., slot] / scale, finite / scale, atol=1e-6)


def test_candidate_that_cannot_be_factorised__disturbs_no_other(data):
    X, y = data
    bank = Bank(["SE", "SE"])
    theta = draw(bank)
    good, good_gradient = value_and_gradient(ExactEvidence(X, y, 0.0), bank, theta)
    theta[1, :, 0] = -np.inf  # no noise at all, and a smooth kernel
    theta[1, :, 2] = 3.0
    value, gradient = value_and_gradient(ExactEvidence(X, y, 0.0), bank, theta)
    assert np.isnan(value[1]).all()
    np.testing.assert_array_equal(value[0], good[0])
    np.testing.assert_array_equal(gradient[0], good_gradient[0])


@pytest.mark.parametrize("kind", [ExactEvidence, CollapsedEvidence])
def test_one_graph__has_the_values_and_gradients_of_a_tape(data, kind):
    X, y = data
    evidence = kind(X, y) if kind is ExactEvidence else kind(X, y, X[::3], 1e-6)
    for expressions in (EXPRESSIONS, ["PER0 * SE", "SE + WN * LIN"]):
        bank = Bank(expressions)
        theta = draw(bank)
        value, gradient = value_and_gradient(evidence, bank, theta)
        found = bank.with_gradient(evidence.objective, tf.constant(theta), *evidence.tensors)
        np.testing.assert_allclose(found[0], value, rtol=1e-12)
        np.testing.assert_allclose(found[1], gradient, rtol=1e-9, atol=1e-9)


def test_one_graph__serves_other_lists(data):
    X, y = data
    evidence = ExactEvidence(X, y)
    traces = []
    for expressions in (["SE"], EXPRESSIONS, ["CW(SE, LIN)", "RQ"]):
        bank = Bank(expressions)
        bank.with_gradient(evidence.objective, tf.constant(draw(bank)), *evidence.tensors)
        traces.append(num_traces())
    assert len(set(traces)) == 1
