import numpy as np
import pytest
from support.svgp_steps import N, stochastic_context

from vbks.grammar.parser import parse
from vbks.inference.approximations.information import expected_information
from vbks.inference.candidate import make_candidate
from vbks.inference.seeds import Seed
from vbks.inference.svgp.stage import LEAST_BLOCK, StochasticStage


@pytest.fixture(scope="module")
def context():
    return stochastic_context()


@pytest.fixture(scope="module")
def stage(context):
    chunk = [make_candidate(parse(text), context) for text in ("SE", "LIN")]
    return StochasticStage.of(chunk, context)


def test_stage__has_the_kernels_priors_and_inducing_inputs_of_the_fits(stage, context):
    assert [str(layout.expression) for layout in stage.bank.layouts] == ["SE", "LIN"]
    np.testing.assert_array_equal(stage.Z, context.Z)
    for row, layout in enumerate(stage.bank.layouts):
        priors = context.final_priors(layout)
        np.testing.assert_allclose(
            stage.priors.mean[row, : len(priors)], [prior.mean for prior in priors]
        )


def test_repeated_stage__has_every_candidate_one_after_the_other(stage):
    twice = stage.repeated(2)
    names = [str(layout.expression) for layout in twice.bank.layouts]
    assert names == ["SE", "SE", "LIN", "LIN"]
    np.testing.assert_array_equal(twice.jitter, np.repeat(stage.jitter, 2))


def test_no_q__is_the_prior(stage):
    mean, covariance, kl = stage.no_q().moments()
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(covariance, np.broadcast_to(np.eye(20), (2, 20, 20)))
    np.testing.assert_allclose(kl, 0.0, atol=1e-12)


def test_curvature__is_the_information_of_rows_and_priors(stage, context):
    """With Gaussian noise it does not depend on q; what rows say of the noise is among it."""
    theta = np.zeros((2, stage.bank.num_slots))
    found = stage.curvature(theta, np.zeros(2), stage.no_q())
    X, _ = context.data.sample(context.svgp.information_rows, context.rng(Seed.INFORMATION_ROWS))
    information = expected_information(stage.bank, theta, X, N, context.screening_jitter)
    for row, layout in enumerate(stage.bank.layouts):
        H = len(layout)
        precision = np.diag(stage.priors.precision[row, :H])
        covariance = (found.factor[row] @ found.factor[row].T)[:H, :H]
        whole = covariance @ (information[row, :H, :H] + precision)
        np.testing.assert_allclose(whole, np.eye(H), atol=1e-6)


def test_blocks__shrink_with_the_samples_down_to_a_least_size(stage):
    assert stage.block_size() == stage.repeated(2).block_size() * 2
    assert stage.block_size(10**6) == LEAST_BLOCK
