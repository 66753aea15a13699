from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.fits import BOUNDS, make_data, make_fit, new_inputs, with_modes

from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit, Warp
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.predict import serving
from vbks.predict.mixture import KernelMixture
from vbks.predict.posteriors import conditioning

SOFTPLUS, LOGIT = InverseSoftplus(2.5), Logit(0.0, 20.0)
WARPS: tuple[Warp, ...] = (Identity(), Log(), SOFTPLUS, LOGIT)
DATA = {warp: make_data().warped(warp) for warp in WARPS}


def make_mixture(bound: str, *warps: Warp) -> KernelMixture:
    """Kernels with several modes, and with noise that depends on the inputs, under two warps."""
    fits = [
        with_modes(make_fit("SE + LIN", bound, spread=0.1, warp=warps[0]), 0.6, 0.4),
        make_fit("PER + WN * LIN", bound, warp=warps[1]),
        make_fit("SE", bound, warp=warps[1]),
    ]
    return KernelMixture(fits, [0.5, 0.2, 0.3], DATA, num_samples=8)


def assert_same(mixture: KernelMixture, X: Array, Y: Array, rtol: float = 1e-9) -> None:
    module = mixture.to_module()
    for name in ("predict_f", "predict_y"):
        mean, variance = getattr(mixture, name)(X)
        found = getattr(module, name)(X)
        np.testing.assert_allclose(found["mean"], mean, rtol=rtol)
        np.testing.assert_allclose(found["variance"], variance, rtol=rtol)
    found = module.predict_log_density(X, Y)["log_density"]
    np.testing.assert_allclose(found, mixture.predict_log_density((X, Y)), rtol=rtol)


@pytest.mark.parametrize(
    ("bound", "warps"),
    [
        ("exact", (Log(), Identity())),
        ("collapsed", (Identity(), LOGIT)),
        ("stochastic", (Identity(), SOFTPLUS)),
    ],
)
def test_graphs__say_what_the_mixture_says(bound: str, warps: tuple[Warp, Warp]) -> None:
    Ynew = np.linspace(-1.0, 25.0, 11)[:, np.newaxis]
    assert_same(make_mixture(bound, *warps), new_inputs(11), Ynew)


def test_graphs__take_any_number_of_rows(monkeypatch: Any) -> None:
    monkeypatch.setattr(serving, "ROWS_AT_ONCE", 4)
    mixture = KernelMixture([make_fit("SE", spread=0.1)], [1.0], make_data(), num_samples=4)
    module = mixture.to_module()
    for num in (1, 4, 5, 13):
        mean, variance = mixture.predict_y(new_inputs(num))
        found = module.predict_y(new_inputs(num))
        np.testing.assert_allclose(found["mean"], mean, rtol=1e-9)
        np.testing.assert_allclose(found["variance"], variance, rtol=1e-9)
    assert module.predict_y(np.empty((0, 1)))["mean"].shape == (0, 1)


@pytest.mark.parametrize("bound", BOUNDS)
def test_graphs__put_small_posteriors_together(bound: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(conditioning, "ELEMENTS_AT_ONCE", 1)
    mixture = KernelMixture([make_fit("SE", bound, spread=0.1)], [1.0], make_data(), num_samples=6)
    mean, variance = mixture.predict_y(new_inputs())
    module = mixture.to_module()
    assert len(module.held) == (3 if bound == "exact" else 4)
    found = module.predict_y(new_inputs())
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-9)
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-9)


def make_wide_fit(text: str, data: TrainingData, ard: bool) -> LocalFit:
    """A fit to two inputs."""
    H = len(lay_out(text, 2, ard))
    theta = 0.3 * np.random.default_rng(H).normal(size=H)
    mode = Mode(theta, 0.1 * np.eye(H), 1.0, 0.0, 0.0, 0.0)
    return replace(
        make_fit("SE"), expression=parse(text), num_inputs=2, ard=ard, num_free=H,
        num_rows=data.num_rows, modes=(mode,), posterior="full",
    )  # fmt: skip


def test_graphs__take_several_inputs() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, 100], [1, 900], (20, 2))
    data = prepare((X, np.sin(5 * X[:, 0]) + 0.01 * X[:, 1] + 0.1 * rng.normal(size=20)))
    texts = [("SE", True), ("SE[1] * LIN[2] + WN[1]", True), ("PER * LIN", False)]
    fits = [make_wide_fit(text, data, ard) for text, ard in texts]
    mixture = KernelMixture(fits, [0.5, 0.3, 0.2], data, num_samples=10)
    assert_same(mixture, X[:7] + 0.1, np.linspace(0.0, 8.0, 7)[:, np.newaxis])


@pytest.mark.parametrize("name", ["poisson", "student_t"])
def test_graphs__know_likelihoods_of_gpflow(name: str) -> None:
    X, y = next(make_data().source.blocks(100))
    data = prepare((X, np.round(y)), standardise_targets=False)
    fits = [make_fit("SE", "stochastic", spread=0.2), make_fit("SE + LIN", "stochastic")]
    mixture = KernelMixture(fits, [0.7, 0.3], data, likelihood=make_likelihood(name), num_samples=6)
    assert_same(mixture, new_inputs(), np.arange(7.0)[:, np.newaxis])


def test_gradient_for_inputs__is_refused() -> None:
    module = KernelMixture([make_fit("SE")], [1.0], make_data()).to_module()
    X = tf.constant(new_inputs())
    with tf.GradientTape() as tape, pytest.raises(LookupError, match="have no gradient for inputs"):
        tape.watch(X)
        tape.gradient(module.predict_f(X)["mean"], X)
