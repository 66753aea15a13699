"""Parts of averages that are made by hand, against dense algebra and the average's own function."""

from dataclasses import replace

import gpflow
import numpy as np
import pytest
from support.fits import BOUNDS, make_data, make_fit, make_logs, new_inputs, with_modes
from support.reference import kernel_matrix

from vbks.data.training import prepare
from vbks.data.warps import Log
from vbks.errors import DataError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.kernels.layout import lay_out
from vbks.parts.decomposing import decompose
from vbks.parts.posteriors import part_means
from vbks.parts.sources import sources_of
from vbks.predict.mixture import KernelMixture
from vbks.predict.shifted_mixture import ShiftedMixture
from vbks.words import Axes, Axis

AXES = Axes((Axis("x", low=3.0, high=9.0),))
TEXTS = ("SE + LIN * PER", "(SE + C) * (LIN + PER)", "CP(SE, LIN) + PER")
X = new_inputs()


def make_mixture(bound, texts=TEXTS, spread=0.1, **changes):
    fits = [make_fit(text, bound, spread, seed) for seed, text in enumerate(texts)]
    weights = np.arange(len(fits), 0.0, -1.0)
    return KernelMixture(fits, weights, make_data(), num_samples=24, **changes)


@pytest.fixture(scope="module", params=BOUNDS)
def mixture(request):
    return make_mixture(request.param)


def test_means_of_parts__add_up_to_that_of_the_function(mixture):
    found = decompose(mixture.average, X, AXES).main
    expected, _ = mixture.predict_f(X)
    np.testing.assert_allclose(found.total, expected[:, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.cumulative(), expected[:, 0], rtol=0, atol=1e-8)


def test_covariances_of_parts__add_up_to_that_of_the_function(mixture):
    found = decompose(mixture.average, X, AXES).main
    num = len(found.components)
    total = sum(found.covariance(i, j) for i in range(num) for j in range(num))
    _, expected = mixture.predict_f(X, full_cov=True)
    np.testing.assert_allclose(total, expected[0], rtol=0, atol=1e-8)
    for place, part in enumerate(found.components):
        variance = np.diag(found.covariance(place))
        np.testing.assert_allclose(variance, part.sd**2, rtol=0, atol=1e-8)


def test_parts_of_an_exact_fit__are_those_of_dense_algebra():
    fit = make_fit("SE + LIN * PER0")
    found = decompose(KernelMixture([fit], [1.0], make_data()).average, X, AXES).main
    data = make_data()
    inputs, y = data.arrays()
    Xs, unit = data.units.standardise_inputs(X), data.units
    whole = kernel_matrix(lay_out(fit.expression), fit.theta, inputs, inputs)
    C = whole + np.exp(fit.theta[0]) * np.eye(len(y))
    theta = fit.theta
    pieces = {"curve": ("SE", theta[:3]), "cycle": ("LIN * PER0", np.r_[theta[0], theta[3:]])}
    for part in found.components[:-1]:
        text, own = pieces[part.kind]
        cross = kernel_matrix(lay_out(text), own, Xs, inputs)
        mean = unit.y_scale * cross @ np.linalg.solve(C, y)
        variance = np.diag(
            kernel_matrix(lay_out(text), own, Xs, Xs) - cross @ np.linalg.solve(C, cross.T)
        )
        np.testing.assert_allclose(part.mean, mean, atol=1e-8)
        np.testing.assert_allclose(part.sd, unit.y_scale * np.sqrt(variance), atol=1e-6)


def test_autogp_fault_of_cross_terms__is_not_ours():
    """AutoGP.jl left cross terms of products of sums out in 2025: parts did not add up."""
    fit = make_fit("(SE + LIN) * (PER0 + C)")
    mixture = KernelMixture([fit], [1.0], make_data())
    found = decompose(mixture.average, X, AXES).main
    expected, _ = mixture.predict_f(X)
    np.testing.assert_allclose(found.total, expected[:, 0], rtol=0, atol=1e-8)
    source = next(iter(sources_of(mixture.average, AXES).values()))[0]
    units = make_data().units
    inputs = units.standardise_inputs(X)
    cross = [place for place, term in enumerate(source.terms) if len(term.leaves) == 2]
    assert len(cross) == 4
    crossed = part_means(source, [[1], [2]], inputs)[0].sum(axis=0) * units.y_scale
    assert np.abs(crossed).max() > 0.1


def test_autogp_fault_of_the_mean__is_not_ours():
    """AutoGP.jl added the mean of the data to every part in 2025: their sum had it many times."""
    mixture = make_mixture("exact", ("SE + C + PER",))
    found = decompose(mixture.average, X, AXES).main
    expected, _ = mixture.predict_f(X)
    np.testing.assert_allclose(found.total, expected[:, 0], rtol=0, atol=1e-8)
    mean = make_data().units.y_mean
    assert abs(mean) > 0.5
    twice = [part.kind for part in found.components if abs(part.mean.mean()) > 0.5 * abs(mean)]
    assert twice == ["level"]


def test_cross_terms__are_parts_of_their_own():
    """A product of two sums has four functions, not two; those that repeat are one part."""
    fit = make_fit("(SE + LIN) * (PER0 + C)")
    source = next(iter(sources_of(KernelMixture([fit], [1.0], make_data()).average, AXES).values()))
    assert len(source[0].terms) == 4
    found = decompose(KernelMixture([fit], [1.0], make_data()).average, X, AXES).main
    assert sorted(part.kind for part in found.components) == ["curve", "cycle", "level", "trend"]


def test_mean_of_the_data__is_counted_once():
    data = make_data()
    for texts in (("SE", "PER"), ("SE + C", "PER + C"), ("C + SE + PER", "SE")):
        found = decompose(make_mixture("exact", texts).average, X, AXES).main
        levels = [part for part in found.components if part.kind == "level"]
        assert len(levels) == 1 and levels[0].probability == 1.0
        others = [part for part in found.components if part.kind != "level"]
        assert np.abs(np.mean([part.mean for part in others])) < 0.5 * data.units.y_mean


def test_parts_of_two_warps__are_apart_and_factors_under_the_logarithm():
    fits = [make_fit("SE + PER"), replace(make_fit("SE + PER"), warp=Log())]
    data = {fits[0].warp: make_data(), Log(): make_logs()}
    mixture = KernelMixture(fits, [0.75, 0.25], data)
    found = decompose(mixture.average, X, AXES)
    assert [own.warp for own in found.decompositions] == ["identity", "log"]
    assert [own.belief for own in found.decompositions] == pytest.approx([0.75, 0.25])
    logs = found.of_warp("log")
    assert {part.effect for part in logs.components} == {"factor"}
    assert {part.effect for part in found.main.components} == {"added"}
    product = np.prod([part.factors[:, 1] for part in logs.components], axis=0)
    np.testing.assert_allclose(product, logs.cumulative(), rtol=1e-10)
    assert all(part.probability == pytest.approx(0.25) for part in logs.components)
    with pytest.raises(DataError, match="added to other parts"):
        _ = found.main.components[0].factors
    with pytest.raises(DataError, match="no kernel with the warp 'logit'"):
        found.of_warp("logit")


def test_parts_under_a_poisson_likelihood__are_factors_on_its_link():
    rows = make_data()
    counts = np.round(rows.source.y)
    level = prepare((rows.source.X, counts), standardise_targets=False).with_level(1.0, 0.5)
    mixture = KernelMixture(
        [make_fit("SE + PER", "stochastic", 0.1), make_fit("SE", "stochastic", 0.1, 2)],
        [0.6, 0.4],
        level,
        likelihood=make_likelihood("poisson"),
    )
    found = decompose(mixture.average, X, AXES).main
    part = mixture.average.posteriors
    f = sum(p.weights @ p.marginals(level.units.standardise_inputs(X))[0] for p in part)
    np.testing.assert_allclose(found.total, 1.0 + 0.5 * f, atol=1e-8)
    assert {part.effect for part in found.components} == {"factor"}
    np.testing.assert_allclose(found.cumulative(), np.exp(found.total), rtol=1e-8)


@pytest.mark.parametrize("name", ["student_t", "bernoulli"])
def test_parts_under_other_likelihoods__add_up_on_their_link(name):
    rows = make_data()
    y = rows.source.y if name == "student_t" else (rows.source.y > rows.source.y.mean()) * 1.0
    data = prepare((rows.source.X, y), standardise_targets=False).with_level(0.2, 0.7)
    fits = [make_fit("SE + LIN * PER", "stochastic", 0.1), make_fit("OU", "stochastic", 0.1, 2)]
    mixture = KernelMixture(fits, [0.6, 0.4], data, likelihood=make_likelihood(name))
    found = decompose(mixture.average, X, AXES).main
    inputs = data.units.standardise_inputs(X)
    f = sum(p.weights @ p.marginals(inputs)[0] for p in mixture.average.posteriors)
    np.testing.assert_allclose(found.total, 0.2 + 0.7 * f, rtol=0, atol=1e-8)
    assert (found.rows.observed is None) == (name == "bernoulli")


def test_sums_of_parts__have_the_moments_of_their_covariances(mixture):
    found = decompose(mixture.average, X, AXES).main
    num = len(found.components)
    for count in range(num):
        places = found.first(min(count, num - found.num_base))
        mean, sd = found.moments(places, X)
        total = sum(found.covariance(i, j) for i in places for j in places)
        np.testing.assert_allclose(sd**2, np.diag(total), rtol=0, atol=1e-8)
        np.testing.assert_allclose(mean, sum(found.components[p].mean for p in places), atol=1e-8)
    np.testing.assert_allclose(found.cumulative_band()[:, 1], found.cumulative(), atol=1e-8)


def test_mean_function__is_a_part_that_all_sums_begin_with():
    line = gpflow.functions.Linear([[0.4]], [1.0])
    fits = [make_fit("SE + PER"), make_fit("PER", seed=2)]
    mixture = ShiftedMixture(fits, [0.5, 0.5], make_data(), mean_function=line)
    found = decompose(mixture.average, X, AXES, line).main
    expected, _ = mixture.predict_f(X)
    np.testing.assert_allclose(found.total, expected[:, 0], rtol=0, atol=1e-8)
    assert [part.kind for part in found.components[-2:]] == ["mean function", "level"]
    np.testing.assert_allclose(found.covariance(0, len(found.components) - 2), 0.0)


def test_parts__are_averaged_over_modes_of_a_kernel():
    fit = with_modes(make_fit("SE + PER", spread=0.1), 0.7, 0.3)
    mixture = KernelMixture([fit], [1.0], make_data(), num_samples=24)
    found = decompose(mixture.average, X, AXES).main
    expected, _ = mixture.predict_f(X)
    np.testing.assert_allclose(found.total, expected[:, 0], rtol=0, atol=1e-8)


def test_probability__is_the_belief_in_kernels_that_have_the_part():
    texts, weights = ("SE + PER", "PER", "LIN + PER"), [0.5, 0.3, 0.2]
    fits = [make_fit(text) for text in texts]
    same = {"period": 0.3}
    fits = [_with_values(fit, same) for fit in fits]
    found = decompose(KernelMixture(fits, weights, make_data()).average, X, AXES).main
    by_kind = {part.kind: part for part in found.components}
    assert by_kind["cycle"].probability == pytest.approx(1.0)
    assert by_kind["trend"].probability == pytest.approx(0.2)
    assert by_kind["trend"].kernels == ("LIN + PER",)
    trend = by_kind["trend"]
    np.testing.assert_allclose(trend.mean, 0.2 * trend.given_mean, rtol=1e-10)
    second = 0.2 * (trend.given_sd**2 + trend.given_mean**2)
    np.testing.assert_allclose(trend.sd**2, second - trend.mean**2, rtol=1e-8)


def _with_values(fit, values):
    layout = lay_out(fit.expression)
    theta = fit.theta.copy()
    for place, name in enumerate(layout.names):
        for parameter, value in values.items():
            if name.endswith(parameter):
                theta[place] = value
    return replace(fit, modes=(replace(fit.modes[0], mean=theta),))


def test_variances_of_some_components__stand_for_all_where_there_are_many_rows(monkeypatch):
    mixture = make_mixture("exact", spread=0.02)
    every = decompose(mixture.average, X, AXES).main
    monkeypatch.setattr("vbks.parts.averaging.MOST_STEPS", 1)
    some = decompose(mixture.average, X, AXES).main
    np.testing.assert_allclose(some.total, every.total, rtol=0, atol=1e-10)
    for one, other in zip(every.components, some.components, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(one.sd, other.sd, rtol=0.2)
