from __future__ import annotations

import numpy as np
import pytest
from support.fits import NUM_ROWS, make_fit, with_modes

from vbks.inference.approximations.base_samples import base_samples
from vbks.predict.posteriors import samples as components
from vbks.predict.posteriors.marginals import mixture_moments
from vbks.predict.posteriors.samples import (
    LEAST_SAMPLES,
    NEGLIGIBLE,
    at_means,
    draw_components,
    matrix_bytes,
    without_negligible,
)


def test_without_negligible__leaves_out_as_many_of_the_smallest_as_it_may() -> None:
    weights = np.array([0.5, 3e-4, 0.0, 0.4, 5e-4, 0.0992])
    assert list(without_negligible(weights, 1e-3)) == [0, 3, 5]
    assert list(without_negligible(weights, 7e-4)) == [0, 3, 4, 5]
    assert list(without_negligible(weights, 0.0)) == [0, 1, 3, 4, 5]
    assert list(without_negligible(100 * weights, 1e-3)) == [0, 3, 5]
    assert list(without_negligible(np.ones(1), 0.9)) == [0]


def test_negligible_weight__moves_the_mean_by_less_than_a_thousandth_wherever_it_is() -> None:
    distance = 10.0 ** np.arange(-1, 13)
    weights = np.array([1.0 - NEGLIGIBLE, NEGLIGIBLE])
    means = np.stack([np.zeros_like(distance), distance])
    mean, variance = mixture_moments(weights, means, np.ones_like(means))
    assert np.all(mean / np.sqrt(variance) < 1.0001e-3)


@pytest.mark.parametrize("count", [2, 4, 10, 64])
def test_base_samples__have_the_moments_of_a_normal_distribution(count: int) -> None:
    eta = base_samples(count, 5, seed=0)
    assert eta.shape == (count, 5)
    np.testing.assert_allclose(eta.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose((eta**2).mean(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(eta, base_samples(count, 5, seed=0))
    assert np.any(eta != base_samples(count, 5, seed=1))


def test_base_samples__of_many_are_uncorrelated() -> None:
    eta = base_samples(256, 5, seed=0)
    assert np.all(np.abs(eta.T @ eta / 256 - np.eye(5)) < 0.1)


def test_one_base_sample__is_zero() -> None:
    assert not base_samples(1, 3, seed=0).any()


def test_components__share_samples_by_weight() -> None:
    members = [(make_fit("SE", spread=0.1), 0.75), (make_fit("SE + LIN", spread=0.2), 0.25)]
    drawn = draw_components(members, 32)
    assert [c.member for c in drawn] == 24 * [0] + 8 * [1]
    for member, (fit, weight) in enumerate(members):
        own = [c for c in drawn if c.member == member]
        assert all(c.fit is fit for c in own)
        assert sum(c.weight for c in own) == pytest.approx(weight, rel=1e-12)
        theta = np.array([c.theta for c in own])
        mode = fit.modes[0]
        np.testing.assert_allclose(theta.mean(axis=0), mode.mean, atol=1e-12)
        spread = np.sqrt(np.diag(mode.factor @ mode.factor.T))
        np.testing.assert_allclose(theta.std(axis=0), spread, rtol=0.5)


def test_every_mode_with_spread__has_some_components_and_a_point_one() -> None:
    wide = with_modes(make_fit("SE", spread=0.1), 0.9, 0.1 - 1e-9, 1e-9)
    point = with_modes(make_fit("SE"), 0.5, 0.5)
    drawn = draw_components([(wide, 0.5), (point, 0.5)], 8)
    counts = {}
    for c in drawn:
        counts.setdefault((c.member, round(c.weight, 9)), []).append(c)
    assert [len(group) for group in counts.values()] == [LEAST_SAMPLES, LEAST_SAMPLES, 2]
    assert sum(c.weight for c in drawn) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(drawn[-1].theta, point.modes[1].mean)


def test_stochastic_fit__has_q_of_u_for_its_first_mode_alone() -> None:
    fit = with_modes(make_fit("SE", "stochastic"), 0.6, 0.4)
    (drawn,) = draw_components([(fit, 1.0)])
    assert drawn.weight == 1.0
    np.testing.assert_array_equal(drawn.theta, fit.modes[0].mean)


@pytest.mark.parametrize(("most", "expected"), [(40, 32), (10, 10), (6, 6), (4, 4), (1, 2)])
def test_components__are_as_few_as_memory_wants(
    most: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "CACHE_BYTES", most * 8 * NUM_ROWS**2)
    members = [(make_fit("SE", spread=0.1), 0.5), (make_fit("LIN", spread=0.1), 0.5)]
    drawn = draw_components(members, 32)
    assert len(drawn) <= max(most, len(members))
    assert len(drawn) <= expected
    assert {c.member for c in drawn} == {0, 1}
    assert sum(c.weight for c in drawn) == pytest.approx(1.0, rel=1e-12)


def test_matrix_bytes__counts_one_matrix_of_exact_fits_and_two_of_others() -> None:
    assert matrix_bytes(make_fit("SE")) == 8 * 30**2
    assert matrix_bytes(make_fit("SE", "collapsed")) == 16 * 8**2


def test_at_means__has_one_component_for_each_mode() -> None:
    fit = at_means(with_modes(make_fit("SE", spread=0.1), 0.6, 0.4))
    drawn = draw_components([(fit, 1.0)])
    assert [c.weight for c in drawn] == pytest.approx([0.6, 0.4])
