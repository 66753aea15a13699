import numpy as np
import pytest
from scipy import stats

from vbks.grammar.parser import parse
from vbks.grammar.space import K12
from vbks.inference.approximations.laplace import approximate
from vbks.inference.objectives import log_posterior as posterior_module
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.objectives.log_posterior import LogPosterior, maximise


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-1.7, 1.7, size=(40, 1)), axis=0)
    return X, np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=40)


def test_value__is_evidence_plus_the_normal_prior(data):
    evidence = ExactEvidence(*data)
    expressions = [parse("SE"), parse("SE * PER")]
    posterior = LogPosterior(expressions, 1, evidence)
    theta = 0.2 * np.random.default_rng(0).normal(size=(2, posterior.num_slots))
    value, _ = posterior(np.arange(2), theta)
    likelihood = evidence(posterior._bank, theta[:, None]).numpy()[:, 0]
    for row, layout in enumerate(posterior._bank.layouts):
        prior = stats.norm.logpdf(theta[row, : len(layout)], layout.prior_mean, layout.prior_sd)
        np.testing.assert_allclose(value[row], likelihood[row] + prior.sum(), atol=1e-9)


def test_rows_and_pieces__change_nothing(data, monkeypatch):
    expressions = [*K12, *K12]
    posterior = LogPosterior(expressions, 1, ExactEvidence(*data))
    theta = 0.2 * np.random.default_rng(0).normal(size=(24, posterior.num_slots))
    value, gradient = posterior(np.arange(24), theta)
    monkeypatch.setattr(posterior_module, "ELEMENTS_AT_ONCE", 5 * 40**2)
    for rows in (np.arange(24), np.array([3, 7, 20]), np.array([20]), np.arange(24)):
        some, some_gradient = posterior(rows, theta[rows])
        np.testing.assert_allclose(some, value[rows], rtol=1e-9)
        np.testing.assert_allclose(some_gradient, gradient[rows], rtol=1e-7, atol=1e-7)


def test_maximum__is_one(data):
    posterior = LogPosterior([parse("SE"), parse("LIN")], 1, ExactEvidence(*data))
    starts = np.zeros((2, posterior.num_slots))
    found = maximise(posterior, starts)
    assert found.converged.all()
    for direction in np.random.default_rng(0).normal(size=(20, *starts.shape)):
        direction *= posterior.priors.used
        value, _ = posterior(np.arange(2), found.x + 0.05 * direction)
        assert (value <= -found.loss + 1e-2).all()


def test_laplace__is_close_to_quadrature_for_a_line(data):
    """LIN with noise has three numbers; the evidence by a grid is the twin."""
    X, y = data[0][::2], (0.8 * data[0][:, 0] + 0.3 * np.cos(9 * data[0][:, 0]))[::2]
    posterior = LogPosterior([parse("C")], 1, ExactEvidence(X, y))
    found = maximise(posterior, np.zeros((1, posterior.num_slots)))
    laplace = approximate(posterior, found.x)
    grids = [
        np.linspace(mean - 6 * sd, mean + 6 * sd, 61)
        for mean, sd in zip(found.x[0], np.linalg.norm(laplace.factor[0], axis=1), strict=True)
    ]
    points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(grids))
    many = LogPosterior([parse("C")] * len(points), 1, ExactEvidence(X, y))
    value, _ = many(np.arange(len(points)), points)
    cell = np.prod([grid[1] - grid[0] for grid in grids])
    quadrature = np.log(np.exp(value - value.max()).sum() * cell) + value.max()
    assert abs(laplace.log_evidence[0] - quadrature) < 0.3


def test_laplace__prefers_the_kernel_the_data_came_from(data):
    expressions = [parse("SE"), parse("LIN"), parse("C")]
    posterior = LogPosterior(expressions, 1, ExactEvidence(*data))
    found = maximise(posterior, np.zeros((3, posterior.num_slots)))
    laplace = approximate(posterior, found.x)
    assert np.argmax(laplace.log_evidence) == 0


def test_laplace__factor_is_zero_where_theta_is_not_used(data):
    posterior = LogPosterior([parse("C"), parse("SE * PER")], 1, ExactEvidence(*data))
    found = maximise(posterior, np.zeros((2, posterior.num_slots)))
    factor = approximate(posterior, found.x).factor
    assert (factor[0, 2:] == 0).all()
    assert (np.abs(factor[1]).max(axis=1) > 0).all()
