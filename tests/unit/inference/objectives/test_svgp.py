import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.utilities import parameter_dict

from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.inference.objectives.natural_parameters import Moments, NaturalParameters
from vbks.inference.objectives.svgp import FixedTheta
from vbks.kernels.bank.bank import Bank
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.gpflow.linear import positive_parameter
from vbks.kernels.layout import lay_out
from vbks.predict.models.variational_svgp import VariationalSVGP

EXPRESSIONS = ("SE", "SE * PER + LIN", "(RQ + LIN) * (SE + PER)", "CP[1](SE, RQ) + C")
LIKELIHOODS = ("gaussian", "bernoulli", "student_t")
MADE = {name: make_likelihood(name) for name in LIKELIHOODS}  # each compiles once
JITTER = gpflow.config.default_jitter()
N, M = 30, 6
RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2, 2, size=(N, 1)), axis=0)
Y = np.sin(4 * X[:, 0]) + 0.3 * RNG.normal(size=N)
Z = np.linspace(-1.8, 1.8, M)[:, None]
BATCH = slice(3, 15)
THIRDS = np.random.default_rng(1).permutation(N).reshape(3, -1)


def targets(likelihood):
    return (Y > 0).astype(float) if likelihood == "bernoulli" else Y


def draw(bank, samples=1, seed=0):
    rng = np.random.default_rng(seed)
    return 0.3 * rng.normal(size=(len(bank), samples, bank.num_slots))


def some_q(num_candidates, seed=2):
    """Gaussians that are neither the prior nor the best."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(num_candidates, M, M))
    precision = np.eye(M) + root @ root.swapaxes(1, 2)
    return NaturalParameters(
        tf.constant(precision), tf.constant(2.0 * rng.normal(size=(num_candidates, M)))
    )


def fixed(bank, theta, likelihood="gaussian", jitter=JITTER):
    return FixedTheta(bank, theta, tf.constant(Z), MADE[likelihood], N, jitter)


def collapsed(bank, theta):
    """Titsias' bound and its gradient."""
    theta = tf.constant(theta)
    with tf.GradientTape() as tape:
        tape.watch(theta)
        value = CollapsedEvidence(X, Y, Z, JITTER)(bank, theta)
    return value.numpy(), tape.gradient(value, theta).numpy()


def gpflow_q(q, k):
    mean, covariance, _ = (part.numpy()[k] for part in q.moments())
    return {"q_mu": mean[:, None], "q_sqrt": np.linalg.cholesky(covariance)[None], "num_data": N}


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_value__equals_svgp(likelihood):
    bank = Bank(EXPRESSIONS)
    theta, q = draw(bank, samples=2), some_q(len(bank))
    batch = X[BATCH], targets(likelihood)[BATCH]
    here = fixed(bank, theta, likelihood)
    slopes = here.slopes([batch], q.moments()).value.numpy()
    value, _ = here.value([batch], q.moments())
    np.testing.assert_allclose(value, slopes, atol=1e-10)
    for k, layout in enumerate(bank.layouts):
        for s in range(2):
            own = theta[k, s, : len(layout)]
            model = gpflow.models.SVGP(
                to_gpflow(layout.expression, theta=own),
                MADE[likelihood].to_gpflow(np.exp(own[0])),
                Z,
                **gpflow_q(q, k),
            )
            expected = model.elbo((batch[0], batch[1][:, None]))
            np.testing.assert_allclose(slopes[k, s], expected, atol=1e-8)


def slots_of(model, layout):
    """The slot of each number in the model's θ, and by how much the slot is larger."""
    parameters = parameter_dict(model)
    places = {id(own.parameter): own for own in bindings(model.kernel, layout)}
    slots, offsets = [], []
    for name in model.theta_names:
        path, index = name, 0
        if name not in parameters:  # one of several numbers, such as .kernel.weights[1]
            path, index = name[: name.rindex("[")], int(name[name.rindex("[") + 1 : -1])
        binding = places.get(id(parameters[path]))
        slots.append(0 if binding is None else binding.slots[index])  # 0: of the likelihood
        offsets.append(0.0 if binding is None else binding.offset)
    return np.array(slots), np.array(offsets)


def variational_svgp(layout, q, k, covariance):
    """GPflow's likelihood holds the logarithm of its variance here, as θ does."""
    noise = gpflow.likelihoods.Gaussian(1.0)
    noise.variance = positive_parameter(0.1)
    kernel = to_gpflow(layout.expression)
    parts = kernel, noise, Z
    trial = VariationalSVGP(*parts)
    slots, offsets = slots_of(trial, layout)
    model = VariationalSVGP(
        *parts,
        covariance=covariance,
        prior_mean=layout.prior_mean[slots] - offsets,
        prior_sd=layout.prior_sd[slots],
        whiten=True,
        **gpflow_q(q, k),
    )
    return model, slots, offsets


def kl_to_prior(layout, mean, covariance):
    """KL(N(mean, covariance)‖p(θ)) over the slots of a layout."""
    variance = layout.prior_sd**2
    squares = (np.diag(covariance) + (mean - layout.prior_mean) ** 2) / variance
    log_dets = np.log(variance).sum() - np.linalg.slogdet(covariance)[1]
    return 0.5 * (squares.sum() - len(mean) + log_dets)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_value_over_samples_of_theta__equals_variational_svgp(text):
    layout, q = lay_out(text), some_q(1)
    model, slots, offsets = variational_svgp(layout, q, 0, "full")
    assert sorted(slots) == list(range(len(layout)))
    rng = np.random.default_rng(3)
    H = len(layout)
    model.theta_mean.assign_add(0.3 * rng.normal(size=H))
    model.q_theta.sqrt.assign(np.tril(0.1 * rng.normal(size=(H, H)), -1) + 0.3 * np.eye(H))
    eta = rng.normal(size=(3, H))
    theta = np.zeros((1, 3, H))
    theta[0][:, slots] = model.theta_mean + eta @ model.q_theta.factor.numpy().T + offsets
    mean, covariance = np.zeros(H), np.zeros((H, H))
    mean[slots] = model.theta_mean + offsets
    covariance[np.ix_(slots, slots)] = model.theta_covariance
    batch = X[BATCH], Y[BATCH]
    ours = fixed(Bank([text]), theta).slopes([batch], q.moments()).value.numpy().mean()
    ours -= kl_to_prior(layout, mean, covariance)
    np.testing.assert_allclose(model.elbo((batch[0], batch[1][:, None]), eta), ours, atol=1e-8)


def test_value_at_one_theta__equals_variational_svgp_with_a_point():
    layout, q = lay_out("SE * PER + LIN"), some_q(1)
    model, slots, offsets = variational_svgp(layout, q, 0, "point")
    theta = np.zeros((1, 1, len(layout)))
    theta[0, 0, slots] = model.theta_mean + offsets
    value, _ = fixed(Bank([layout.expression]), theta).value([(X, Y)], q.moments())
    np.testing.assert_allclose(model.elbo((X, Y[:, None])), value[0, 0], atol=1e-8)


def moved_along(q, before, after):
    """q(v) at another θ, of one sample for each candidate, when q(u) stays."""
    change = np.linalg.solve(after.L.numpy()[:, 0], before.L.numpy()[:, 0])
    mean = np.einsum("kij,kj->ki", change, q.mean)
    root = np.linalg.cholesky(change @ q.covariance.numpy() @ change.swapaxes(1, 2))
    return Moments.of_root(tf.constant(mean), tf.constant(root))


@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_gradient__equals_finite_differences(likelihood, whitened):
    bank = Bank([*EXPRESSIONS, "SE + WN * LIN"])
    theta, q = draw(bank), some_q(len(bank)).moments()
    batch = X[BATCH], targets(likelihood)[BATCH]
    here = fixed(bank, theta, likelihood)

    def value(step):
        there = fixed(bank, theta + step, likelihood)
        own = q if whitened else moved_along(q, here, there)
        return there.slopes([batch], own).value.numpy()

    gradient = here.slopes([batch], q, whitened=whitened).gradient.numpy()
    for slot in range(bank.num_slots):
        step = np.zeros(bank.num_slots)
        step[slot] = 1e-5
        finite = (value(step) - value(-step)) / 2e-5
        scale = 1 + np.abs(finite)
        np.testing.assert_allclose(gradient[..., slot] / scale, finite / scale, atol=1e-6)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_gradient_for_q__is_that_of_the_expected_log_likelihood(likelihood):
    bank = Bank(["SE", "SE + LIN"])
    theta, q = draw(bank, samples=3), some_q(2).moments()
    batch = X[BATCH], targets(likelihood)[BATCH]
    here = fixed(bank, theta, likelihood)
    rng = np.random.default_rng(4)
    towards = rng.normal(size=(2, M)), rng.normal(size=(2, M, M))
    towards = towards[0], towards[1] + towards[1].swapaxes(1, 2)

    def expected(share):
        mean, covariance = q.mean + share * towards[0], q.covariance + share * towards[1]
        own = Moments(mean, covariance, tf.zeros_like(q.kl))
        return here.slopes([batch], own).value.numpy().mean(axis=1)

    slopes = here.slopes([batch], q)
    along = np.einsum("km,km->k", slopes.by_mean, towards[0])
    along += np.einsum("kmn,kmn->k", slopes.by_covariance, towards[1])
    np.testing.assert_allclose(along, (expected(1e-5) - expected(-1e-5)) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_minibatches_of_an_epoch__average_to_the_full_gradient(likelihood, whitened):
    bank = Bank(EXPRESSIONS)
    theta, q = draw(bank, samples=2), some_q(len(bank)).moments()
    y = targets(likelihood)
    here = fixed(bank, theta, likelihood)
    batches = [(X[rows], y[rows]) for rows in THIRDS]
    full = here.slopes([(X, y)], q, whitened=whitened)
    apart = [here.slopes([batch], q, whitened=whitened) for batch in batches]
    joined = here.slopes(batches, q, whitened=whitened)
    for expected, together, *parts in zip(full, joined, *apart, strict=True):
        scale = 1e-8 * (1 + np.abs(expected).max())
        np.testing.assert_allclose(np.mean(parts, axis=0), expected, atol=scale)
        np.testing.assert_allclose(together, expected, atol=scale)


def test_optimum__has_the_value_and_the_gradient_of_the_collapsed_bound():
    bank = Bank([*EXPRESSIONS, "SE + WN * LIN"])
    theta = draw(bank)
    here = fixed(bank, theta)
    q, value = here.optimum([(X[rows], Y[rows]) for rows in THIRDS])
    expected, expected_gradient = collapsed(bank, theta)
    np.testing.assert_allclose(value, expected, atol=1e-8)
    np.testing.assert_allclose(here.value([(X, Y)], q.moments())[0], expected, atol=1e-8)
    scale = 1 + np.abs(expected_gradient)
    for whitened in (True, False):
        gradient = here.slopes([(X, Y)], q.moments(), whitened=whitened).gradient
        np.testing.assert_allclose(gradient / scale, expected_gradient / scale, atol=1e-8)
    for k, layout in enumerate(bank.layouts[: len(EXPRESSIONS)]):
        own = theta[k, 0, : len(layout)]
        kernel = to_gpflow(layout.expression, theta=own)
        model = gpflow.models.SGPR((X, Y[:, None]), kernel, Z, noise_variance=np.exp(own[0]))
        np.testing.assert_allclose(value[k, 0], model.elbo(), atol=1e-8)


def test_optimum__is_the_best_that_samples_of_theta_can_share():
    bank = Bank(["SE", "SE * PER + LIN"])
    here = fixed(bank, draw(bank, samples=3))
    q, value = here.optimum([(X, Y)])
    best = value.numpy().mean(axis=1)
    slopes = here.slopes([(X, Y)], q.moments())
    np.testing.assert_allclose(slopes.by_mean, q.moments().mean, atol=1e-8)
    np.testing.assert_allclose(np.eye(M) - 2.0 * slopes.by_covariance, q.precision, atol=1e-8)
    for share in (0.1, 0.3):
        other, _ = here.value([(X, Y)], q.mixed(some_q(2), share).moments())
        assert (other.numpy().mean(axis=1) < best).all()


def test_natural_gradient_step__leads_to_the_optimum_from_any_q():
    bank = Bank(EXPRESSIONS)
    here = fixed(bank, draw(bank, samples=2))
    batches = [(X[rows], Y[rows]) for rows in THIRDS]
    best, _ = here.optimum(batches)
    for q in (NaturalParameters.prior(len(bank), M), some_q(len(bank))):
        for found in (here.full_step(batches, q), here.fitted(iter(batches), q, max_steps=4)):
            for part, expected in zip(found, best, strict=True):
                np.testing.assert_allclose(part, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("likelihood", ["bernoulli", "student_t"])
def test_natural_gradient_steps__climb_to_where_the_gradient_is_zero(likelihood):
    bank = Bank(["SE", "SE * PER + LIN"])
    rows = X, targets(likelihood)
    here = fixed(bank, draw(bank, samples=2), likelihood)
    q = start = NaturalParameters.prior(len(bank), M)
    for _ in range(60):
        q = q.mixed(here.full_step([rows], q), 0.7)
    again = here.full_step([rows], q)
    np.testing.assert_allclose(again.linear, q.linear, atol=1e-6)
    np.testing.assert_allclose(again.precision, q.precision, atol=1e-6)
    slopes = here.slopes([rows], q.moments())
    np.testing.assert_allclose(slopes.by_mean - q.moments().mean, 0.0, atol=1e-6)
    if likelihood == "bernoulli":  # of Student's t only rows that add precision count
        expected = np.eye(M) - 2.0 * slopes.by_covariance
        np.testing.assert_allclose(q.precision, expected, atol=1e-6)
    before, after = (np.mean(here.value([rows], own.moments())[0], axis=1) for own in (start, q))
    assert (after > before + 1.0).all()


def test_standard_error__is_how_much_values_from_some_rows_vary():
    bank = Bank(["SE", "LIN"])
    here, q = fixed(bank, draw(bank)), some_q(2)
    rng = np.random.default_rng(5)
    values, errors = [], []
    for _ in range(100):
        rows = rng.choice(N, 10, replace=False)
        value, error = here.value([(X[rows], Y[rows])], q.moments())
        values.append(value.numpy()[:, 0])
        errors.append(error.numpy()[:, 0])
    spread = np.std(values, axis=0)
    np.testing.assert_allclose(np.sqrt(np.mean(np.square(errors), axis=0)), spread, rtol=0.2)
    _, none = here.value([(X, Y)], q.moments())
    np.testing.assert_array_equal(none, 0.0)


def test_excess__takes_most_of_the_bias_of_a_q_from_few_rows():
    bank = Bank(["SE", "SE + LIN"])
    theta = draw(bank)
    here = fixed(bank, theta)
    _, expected = collapsed(bank, theta)
    rng, few = np.random.default_rng(6), 10
    found = {0.0: [], N / few - 1.0: []}
    for _ in range(60):
        ours, theirs = np.split(rng.permutation(N)[: 2 * few], 2)
        q = here.fitted([(X[ours], Y[ours])], NaturalParameters.prior(2, M), max_steps=4).moments()
        for excess, gradients in found.items():
            slopes = here.slopes([(X[theirs], Y[theirs])], q, whitened=False, excess=excess)
            gradients.append(slopes.gradient.numpy())
    biased, debiased = (
        np.linalg.norm(np.mean(gradients, axis=0) - expected, axis=-1)[:, 0]
        for gradients in found.values()
    )
    assert (debiased < 0.5 * biased).all()


def test_candidate_that_cannot_be_factorised__disturbs_no_other():
    bank = Bank(["SE", "SE", "LIN"])
    theta = draw(bank)
    good = fixed(bank, theta)
    bad = fixed(bank, theta, jitter=np.array([JITTER, -10.0, JITTER]))
    q = some_q(3)
    others = np.array([0, 2])
    for evaluate in (
        lambda here: here.optimum([(X, Y)])[1],
        lambda here: here.value([(X, Y)], q.moments())[0],
        lambda here: here.slopes([(X, Y)], q.moments()).gradient,
        lambda here: here.slopes([(X, Y)], q.moments(), whitened=False, excess=1.0).gradient,
        lambda here: here.fitted([(X, Y)], q, max_steps=4).linear,
    ):
        expected, found = evaluate(good).numpy(), evaluate(bad).numpy()
        np.testing.assert_array_equal(found[others], expected[others])
        assert np.isnan(found[1]).any()
    assert np.isnan(bad.value([(X, Y)], q.moments())[0][1]).all()
