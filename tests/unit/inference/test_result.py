import math
from typing import Any

import numpy as np
import pytest

from vbks.data.warps import Identity, Log
from vbks.errors import DataError
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit, Mode, weighted


def make_mode(log_likelihood: float, log_prior: float = -2.0, log_volume: float = -1.0) -> Mode:
    mean = np.full(3, log_likelihood)
    return Mode(mean, np.zeros((3, 3)), 1.0, log_likelihood, log_prior, log_volume)


def make_fit(*modes: Mode, **changes: Any) -> LocalFit:
    settings: dict[str, Any] = {
        "expression": parse("SE"),
        "num_inputs": 1,
        "num_rows": 100,
        "bound": "exact",
        "posterior": "point",
        "num_free": 3,
        "elbo": modes[0].log_likelihood if modes else -math.inf,
        "modes": modes,
    }
    return LocalFit(**settings | changes)


def test_log_evidence__of_a_point_is_corrected_as_asked_for() -> None:
    fit = make_fit(make_mode(-50.0))
    assert fit.log_evidence() == fit.log_evidence("laplace")
    assert fit.log_evidence("laplace") == pytest.approx(-50 - 2 - 1, abs=1e-12)
    assert fit.log_evidence("bic") == pytest.approx(-50 - 1.5 * math.log(100), abs=1e-12)
    assert fit.log_evidence("none") == -50


def test_log_evidence__adds_up_over_modes() -> None:
    fit = make_fit(make_mode(-50.0), make_mode(-50.0, log_volume=-1 + math.log(2)))
    assert fit.log_evidence("laplace") == pytest.approx(-53 + math.log(3), abs=1e-12)


@pytest.mark.parametrize("correction", ["laplace", "bic", "none"])
def test_log_evidence__of_a_posterior_is_its_bound(correction: Any) -> None:
    fit = make_fit(make_mode(-50.0), posterior="full", elbo=-55.0)
    assert fit.log_evidence(correction) == -55


@pytest.mark.parametrize("correction", ["laplace", "bic", "none"])
def test_log_evidence__of_a_failed_fit_is_nothing(correction: Any) -> None:
    assert make_fit(status="failed").log_evidence(correction) == -math.inf


@pytest.mark.parametrize("correction", ["laplace", "bic", "none"])
def test_log_evidence__of_a_dropped_fit_is_where_it_stood(correction: Any) -> None:
    """Its standing has a price for each parameter already, and its mode no numbers."""
    mode = make_mode(math.nan, math.nan, math.nan)
    fit = make_fit(mode, status="dropped", elbo=-80.0)
    assert fit.log_evidence(correction) == -80


@pytest.mark.parametrize("correction", ["laplace", "bic", "none"])
@pytest.mark.parametrize(
    "changes", [{}, {"posterior": "full", "elbo": -55.0}, {"status": "dropped", "elbo": -80.0}]
)
def test_log_evidence__is_comparable_between_warps(correction: Any, changes: Any) -> None:
    plain = make_fit(make_mode(-50.0), **changes)
    warped = make_fit(make_mode(-50.0), warp=Log(), log_jacobian=7.0, **changes)
    assert (plain.warp, plain.log_jacobian) == (Identity(), 0)
    assert warped.log_evidence(correction) == plain.log_evidence(correction) + 7
    assert warped.elbo == plain.elbo


def test_theta__is_that_of_the_highest_mode() -> None:
    fit = make_fit(make_mode(-50.0), make_mode(-51.0))
    np.testing.assert_array_equal(fit.theta, np.full(3, -50.0))


def test_theta__of_a_failed_fit_is_refused_with_the_reason() -> None:
    with pytest.raises(DataError, match="'SE' has no θ: failed, out of memory"):
        _ = make_fit(status="failed", reason="out of memory").theta


def test_weighted__sorts_modes_and_gives_them_shares() -> None:
    modes = [make_mode(-51.0), make_mode(-50.0), make_mode(-53.0)]
    found = weighted(modes, [-1001.0, -1000.0, -1003.0])
    assert [mode.log_likelihood for mode in found] == [-50, -51, -53]
    shares = np.exp([0.0, -1.0, -3.0])
    np.testing.assert_allclose([m.weight for m in found], shares / shares.sum(), rtol=1e-12)
    np.testing.assert_array_equal(found[0].mean, modes[1].mean)
