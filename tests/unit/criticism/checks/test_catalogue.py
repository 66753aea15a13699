"""All checks at once: whether their p-values are uniform, and none says more than it should."""

import numpy as np
from scipy.stats import kstest
from support.residuals import make_residuals, smooth_covariance

from vbks.criticism.checks import CHECKS
from vbks.criticism.p_values import adjusted, extended, ranked

N, DRAWS = 50, 200
X = np.arange(float(N))
C = smooth_covariance(X)


def test_p_values__are_uniform_over_draws_of_a_model_that_is_known():
    """Each of 200 draws is compared with replicates of its own."""
    rng = np.random.default_rng(0)
    L = np.linalg.cholesky(C)
    p_values, together = [], []
    for number in range(DRAWS):
        residuals = make_residuals(X, L @ rng.standard_normal(N), C, num=99, seed=[1, number])
        measured = [found for check in CHECKS if (found := check.measure(residuals)) is not None]
        values = np.stack([found.values for found in measured], axis=1)
        ranks = ranked(values, rng)
        p_values.append(ranks[0])
        together.append(adjusted(extended(values, ranks)).min())
    for own in np.transpose(p_values):
        assert kstest(own, "uniform").pvalue > 1e-3
    assert kstest(together, "uniform").pvalue > 1e-3
    assert 0.01 <= np.mean(np.array(together) <= 0.05) <= 0.1


def test_names__are_different_and_clear_sentences_are_whole():
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.clear[0].islower() and not check.clear.endswith(".")
