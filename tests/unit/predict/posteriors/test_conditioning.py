from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.fits import BOUNDS, at_theta, make_data, make_fit, make_logs

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.errors import DataError
from vbks.inference.result import InducingPosterior, LocalFit
from vbks.kernels.bank.terms import is_batchable
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.posteriors import conditioning
from vbks.predict.posteriors.conditioning import condition, data_by_warp, members_in, posteriors_of
from vbks.predict.posteriors.samples import at_means, draw_components

DATA = {Identity(): make_data(), Log(): make_logs()}
X = np.linspace(-2.0, 2.0, 6)[:, None]


def all_means(parts: list[Any]) -> np.ndarray:
    return np.concatenate([part.marginals(X)[0] for part in parts])


def failing(fit: LocalFit, width: float = 1e3) -> LocalFit:
    """A fit whose scale is so uncertain that it overflows in half of all samples."""
    mode = fit.modes[0]
    factor = np.zeros_like(mode.factor)
    factor[1, 1] = width
    return replace(fit, modes=(replace(mode, factor=factor),))


def test_components_of_all_kinds__go_together() -> None:
    fits = [
        make_fit("SE", spread=0.1),
        make_fit("PER", "collapsed"),
        make_fit("LIN", warp=Log()),
        make_fit("SE", "stochastic", spread=0.1),
        make_fit("SE", "collapsed", inducing=make_data().arrays()[0][:5]),
        make_fit("SE * LIN", "collapsed"),
        make_fit("RQ", jitter=0.01),
    ]
    parts = condition(draw_components([(fit, 1.0 / len(fits)) for fit in fits], 32), DATA)
    assert len(parts) == 5
    assert members_in(parts) == set(range(len(fits)))
    for part in parts:
        mean, _ = part.marginals(X)
        for r, component in enumerate(part.kernels.components):
            fit = at_theta(component)
            expected, _ = gpflow_model(fit, DATA[fit.warp]).predict_f(X)
            np.testing.assert_allclose(mean[r], expected[:, 0], atol=1e-8)
        np.testing.assert_array_equal(part.weights, [c.weight for c in part.kernels.components])


def test_expression_that_cannot_be_batched__goes_with_others() -> None:
    text = " * ".join(10 * ["(SE + LIN)"])
    assert not is_batchable(text)
    (part,) = condition(draw_components([(make_fit("SE"), 0.5), (make_fit(text), 0.5)]), DATA)
    mean, variance = part.marginals(X)
    expected_mean, expected_variance = gpflow_model(make_fit(text), make_data()).predict_f(X)
    np.testing.assert_allclose(mean[1], expected_mean[:, 0], atol=1e-8)
    np.testing.assert_allclose(variance[1], expected_variance[:, 0], atol=1e-8)


@pytest.mark.parametrize("bound", BOUNDS)
def test_work__is_done_in_pieces_with_the_same_result(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    components = draw_components([(make_fit("SE + LIN", bound, spread=0.1), 1.0)], 8)
    (whole,) = condition(components, DATA)
    monkeypatch.setattr(conditioning, "ELEMENTS_AT_ONCE", 1)
    monkeypatch.setattr(conditioning, "BLOCK", 7)
    pieces = condition(components, DATA)
    assert [len(piece) for piece in pieces] == 8 * [1]
    np.testing.assert_allclose(all_means(pieces), whole.marginals(X)[0], atol=1e-10)


def test_indefinite_covariance_of_u__is_used_as_far_as_it_can_be() -> None:
    fit = make_fit("SE", "stochastic")
    S = np.diag([0.5, -1e-17, *(6 * [0.1])])
    fit = replace(fit, q_u=InducingPosterior(fit.q_u.mean, S))
    (part,) = posteriors_of([(fit, 1.0)], DATA, 4, 0)
    W = part.W.numpy()[0]
    np.testing.assert_allclose(W.T @ W, np.maximum(S, 0.0), atol=1e-15)


def test_failed_components__leave_their_weight_to_others_of_their_member() -> None:
    good, half = make_fit("SE", spread=0.1), failing(make_fit("SE + LIN"))
    found = posteriors_of([(good, 0.75), (half, 0.25)], DATA, 32, 0)
    members = np.concatenate([part.members for part in found])
    weights = np.concatenate([part.weights for part in found])
    assert np.sum(members == 0) == 24
    assert 0 < np.sum(members == 1) < 8
    assert weights[members == 0].sum() == pytest.approx(0.75, rel=1e-12)
    assert weights[members == 1].sum() == pytest.approx(0.25, rel=1e-12)
    assert np.all(np.isfinite(all_means(found)))


def test_member_whose_samples_all_fail__is_taken_at_its_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good, bad = make_fit("SE"), failing(make_fit("SE + LIN"))
    monkeypatch.setattr(
        "vbks.predict.posteriors.samples.base_samples",
        lambda count, H, seed: np.ones((count, H)) if count > 1 else np.zeros((1, H)),
    )
    found = posteriors_of([(good, 0.5), (bad, 0.5)], DATA, 8, 0)
    expected = posteriors_of([(good, 0.5), (at_means(bad), 0.5)], DATA, 8, 0)
    np.testing.assert_array_equal(all_means(found), all_means(expected))
    assert members_in(found) == {0, 1}


def test_member_that_fails_at_its_mean__is_missing() -> None:
    bad = make_fit("SE + LIN")
    bad = replace(bad, modes=(replace(bad.modes[0], mean=np.full(5, 1e3)),))
    assert members_in(posteriors_of([(make_fit("SE"), 0.5), (bad, 0.5)], DATA, 8, 0)) == {0}


def test_stochastic_fit__needs_q_of_u() -> None:
    fit = make_fit("SE", "stochastic", q_u=None)
    with pytest.raises(DataError, match=r"'SE' has no q\(u\)"):
        posteriors_of([(fit, 1.0)], DATA, 4, 0)


def test_data__is_found_by_warp() -> None:
    plain, log = make_fit("SE"), make_fit("SE", warp=Log())
    assert data_by_warp([plain, plain], make_data()) == {Identity(): make_data()}
    assert data_by_warp([log], make_logs()) == {Log(): make_logs()}
    assert data_by_warp([log], DATA) == {Log(): make_logs()}
    assert data_by_warp([log, plain], DATA) == DATA


def test_data__without_a_warp_or_with_other_inputs_is_refused() -> None:
    with pytest.raises(DataError, match=r"'SE' was fitted with the warp 'log', but .* no data"):
        data_by_warp([make_fit("LIN"), make_fit("SE", warp=Log())], make_data())
    two = prepare((np.random.default_rng(0).normal(size=(9, 2)), np.arange(9.0)))
    with pytest.raises(DataError, match=r"'SE' was fitted to 1 inputs, but the data has 2\."):
        data_by_warp([make_fit("SE")], two)
