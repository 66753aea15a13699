"""Tests of covariances under the priors, beside naive ones."""

from functools import cache

import numpy as np
import pytest
from gpflow.kernels import Exponential
from support.fits import make_data
from support.reference import kernel_matrix

from vbks.arrays import Array
from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.prior_grams import JITTER, NUM_ROWS, NUM_SAMPLES, prior_draws, prior_grams
from vbks.inference.seeds import Seed
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out

TEXTS = ("SE", "PER + SE", "LIN * (RQ + SE)", "SE + WN", "CP(SE, LIN)", "SE * SE")


@cache
def comparison(num_inputs: int = 1, **settings: object) -> FitContext:
    if num_inputs == 1:
        return make_context(make_data(), 1, FitSettings(inference="exact", **settings))[0]  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, num_inputs))
    return make_context(
        (X, X.sum(axis=1) + rng.normal(size=40)), 1, FitSettings(inference="exact")
    )[0]


def grams_of(*texts: str, num_samples: int = 3, num_rows: int = 6) -> Array:
    return prior_grams([parse(text) for text in texts], comparison(), num_samples, num_rows)


def test_grams__are_kernel_and_noise_at_draws_from_the_priors() -> None:
    found = grams_of(*TEXTS)
    X, _ = comparison().data.sample(6, comparison().rng(Seed.GRAMS))
    for text, own in zip(TEXTS, found, strict=True):
        layout = lay_out(text)
        for theta, gram in zip(prior_draws(layout, comparison(), 3), own, strict=True):
            expected = kernel_matrix(layout, theta, X)
            expected += np.exp(theta[0]) * np.eye(6) * (text != "SE + WN")
            expected += JITTER * np.diag(expected).mean() * np.eye(6)
            np.testing.assert_allclose(gram, expected, rtol=1e-8, atol=1e-10)


def test_grams__are_covariances_of_the_usual_size() -> None:
    found = prior_grams([parse(text) for text in TEXTS], comparison())
    assert found.shape == (len(TEXTS), NUM_SAMPLES, NUM_ROWS, NUM_ROWS)
    np.testing.assert_allclose(found, np.swapaxes(found, -1, -2), rtol=1e-12)
    assert np.linalg.eigvalsh(found).min() > 0


def test_grams__do_not_depend_on_the_list() -> None:
    np.testing.assert_allclose(grams_of(*TEXTS)[2:4], grams_of(*TEXTS[2:4]), rtol=1e-10)
    np.testing.assert_allclose(grams_of("PER + SE"), grams_of("SE + PER"), rtol=1e-10)


def test_grams__of_what_cannot_be_batched_are_those_of_its_gpflow_kernel() -> None:
    expression = from_gpflow(Exponential()).expression
    assert not is_batchable(expression)
    found = prior_grams([parse("SE"), expression, parse("PER")], comparison(), 3, 6)
    np.testing.assert_allclose(found[[0, 2]], grams_of("SE", "PER"), rtol=1e-10)
    X, _ = comparison().data.sample(6, comparison().rng(Seed.GRAMS))
    draws = prior_draws(lay_out(expression), comparison(), 3)
    for theta, gram in zip(draws, found[1], strict=True):
        expected = to_gpflow(expression, theta=theta).K(X).numpy()
        expected += np.exp(theta[0]) * np.eye(6)
        expected += JITTER * np.diag(expected).mean() * np.eye(6)
        np.testing.assert_allclose(gram, expected, rtol=1e-8)


def test_grams__of_several_inputs_have_no_more_rows_than_there_are() -> None:
    found = prior_grams([parse("SE"), parse("SE[2] * LIN[1]")], comparison(2), 2, num_rows=100)
    assert found.shape == (2, 2, 40, 40)


def test_draws__are_the_same_for_the_leaves_that_expressions_share() -> None:
    alone, both = lay_out("SE"), lay_out("PER + SE")
    draws, others = (prior_draws(layout, comparison(), 8) for layout in (alone, both))
    shared = [0, *(place for place, name in enumerate(both.names) if "kernels[1]" in name)]
    np.testing.assert_array_equal(draws, others[:, shared])


def test_draws__of_equal_leaves_are_different() -> None:
    layout = lay_out("SE + SE")
    draws = prior_draws(layout, comparison(), 8)
    assert len(np.unique(draws, axis=1).T) == len(layout)


def test_draws__are_spread_evenly_over_the_priors() -> None:
    layout, own = lay_out("LIN * PER"), comparison()
    draws = prior_draws(layout, own, 200)
    priors = own.prior_of(layout)
    np.testing.assert_allclose(draws.mean(axis=0), [p.centre for p in priors], atol=1e-10)
    np.testing.assert_allclose(draws.std(axis=0) ** -2, [p.precision for p in priors], rtol=0.04)


@pytest.mark.parametrize("prior", ["skc", "vbks"])
def test_draws__are_finite_where_priors_are_flat(prior: str) -> None:
    layout = lay_out("SE * LIN + PER")
    assert np.all(np.isfinite(prior_draws(layout, comparison(prior=prior), 8)))
