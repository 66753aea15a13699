"""Tests of learned inducing inputs, through the door that users have."""

import numpy as np
import pytest
from support.rows import make_rows

import vbks
from vbks.data.training import prepare
from vbks.data.warps import Log, Logit

SETTINGS = {"inference": "collapsed", "num_inducing": 8, "restarts": 2, "posterior": "point"}


def test_learned_inputs__have_a_higher_bound_that_stays_below_the_evidence() -> None:
    rows = make_rows(50)
    (fit,) = vbks.inference.fit_candidates(["SE"], rows, **SETTINGS)
    learned = vbks.inference.learn_inducing(fit, rows)
    assert learned.status == "fitted"
    assert learned.inducing.shape == fit.inducing.shape
    assert learned.modes[0].log_likelihood > fit.modes[0].log_likelihood + 1.0
    assert not np.allclose(learned.inducing, fit.inducing, atol=1e-3)
    X, y = prepare(rows).arrays()
    exact = vbks.inference.ExactEvidence(X, y, 0.0)
    theta = learned.theta[np.newaxis, np.newaxis]
    assert learned.modes[0].log_likelihood <= float(exact(vbks.Bank(["SE"]), theta)[0, 0]) + 1e-6


def test_learned_inputs__are_of_rows_under_the_warp_of_the_fit() -> None:
    x, y = make_rows(50)
    (fit,) = vbks.inference.fit_candidates(
        ["SE"], prepare((x, np.exp(y))).warped(Log()), **SETTINGS
    )
    learned = vbks.inference.learn_inducing(fit, (x, np.exp(y)))
    assert learned.warp == fit.warp == Log()
    assert learned.modes[0].log_likelihood > fit.modes[0].log_likelihood
    with pytest.raises(vbks.DataError, match="under the warp 'log', the rows are under 'logit'"):
        logit = Logit(-1.0, float(np.exp(y).max()) + 1.0)
        vbks.inference.learn_inducing(fit, prepare((x, np.exp(y))).warped(logit))


def test_learned_inputs__are_for_collapsed_fits_of_the_same_rows() -> None:
    rows = make_rows(40)
    (exact,) = vbks.inference.fit_candidates(["SE"], rows, inference="exact", restarts=1)
    with pytest.raises(vbks.DataError, match="'SE' is a exact fit"):
        vbks.inference.learn_inducing(exact, rows)
