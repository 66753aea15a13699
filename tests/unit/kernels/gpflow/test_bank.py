from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import ArcCosine, ChangePoints, Constant, Exponential, Kernel, White

from vbks.arrays import Array
from vbks.errors import DataError, GrammarError, VbksError
from vbks.grammar.space import K12
from vbks.kernels.bank.bank import Bank
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.bank import GPflowBank, KernelBank, bank_of
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.reading import from_gpflow

CHANGES = ("CP[1](SE * PER, SE) * LIN + RQ", "(SE + CP[1](LIN, C)) * (PER + CW[1](SE, RQ))")

NOISY = (
    "WN",
    "SE + WN * LIN + WN",
    "CP[1](WN, SE)",
    "CW[1](SE, LIN + WN) * (PER + WN) + WN",
)

MANY_TERMS = " * ".join(["(SE + RQ)"] * 10)


def draw(bank: KernelBank, num_samples: int = 2) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    theta = 0.5 * rng.normal(size=(len(bank), num_samples, bank.num_slots))
    return theta, rng.normal(size=(5, bank.num_inputs)), rng.normal(size=(4, bank.num_inputs))


def value_and_gradient(function: Callable[[tf.Tensor], tf.Tensor], theta: Array) -> list[Array]:
    """Values, and the gradient of their sum with weights that tell them apart."""
    at = tf.constant(theta)
    with tf.GradientTape() as tape:
        tape.watch(at)
        value = function(at)
    weights = np.cos(np.arange(tf.size(value))).reshape(value.shape)
    return [value.numpy(), tape.gradient(value, at, output_gradients=weights).numpy()]


def assert_gradient_is_that_of_differences(
    function: Callable[[tf.Tensor], tf.Tensor], theta: Array
) -> None:
    value, gradient = value_and_gradient(function, theta)
    weights = np.cos(np.arange(value.size)).reshape(value.shape)
    for place in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[place] = 1e-5
        difference = (function(theta + step) - function(theta - step)).numpy() / 2e-5
        assert gradient[place] == pytest.approx(np.sum(weights * difference), rel=1e-6, abs=1e-8)


def opaque_bank(kernel: Kernel) -> tuple[GPflowBank, Array]:
    reading = from_gpflow(kernel)
    bank = bank_of([reading.expression], reading.num_inputs, ard=reading.ard)
    assert isinstance(bank, GPflowBank)
    return bank, reading.theta[np.newaxis]


@pytest.mark.parametrize(
    ("expressions", "num_inputs"),
    [
        pytest.param(K12, 1, id="K12", marks=pytest.mark.slow),
        pytest.param(CHANGES, 1, id="changes"),
        pytest.param(NOISY, 1, id="noisy"),
        pytest.param(("SE * LIN[2] + WN * PER[1]", "RQ * (LIN + SE[2])"), 2, id="two inputs"),
    ],
)
def test_gpflow_bank__equals_the_bank(expressions: tuple[str, ...], num_inputs: int) -> None:
    ours, theirs = GPflowBank(expressions, num_inputs), Bank(expressions, num_inputs)
    theta, X1, X2 = draw(theirs)
    for one, other in (
        (lambda t: ours(t, X1, X2), lambda t: theirs(t, X1, X2)),
        (lambda t: ours(t, X1), lambda t: theirs(t, X1)),
        (lambda t: ours.diag(t, X1), lambda t: theirs.diag(t, X1)),
        (lambda t: ours.noise(t, X1), lambda t: theirs.noise(t, X1)),
    ):
        pairs = zip(value_and_gradient(one, theta), value_and_gradient(other, theta), strict=True)
        for mine, expected in pairs:
            np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-10)
    assert ours.layouts == theirs.layouts
    np.testing.assert_array_equal(ours.mask, theirs.mask)


def test_gpflow_bank__of_one_lengthscale_for_all_inputs_equals_the_bank() -> None:
    expressions = ["SE * PER", "RQ + LIN"]
    ours, theirs = GPflowBank(expressions, 3, ard=False), Bank(expressions, 3, ard=False)
    theta, X1, X2 = draw(theirs)
    np.testing.assert_allclose(ours(theta, X1, X2), theirs(theta, X1, X2), atol=1e-10)


def test_theta_without_samples__is_one_sample() -> None:
    bank = GPflowBank(["SE", "LIN * PER"])
    theta, X1, X2 = draw(bank)
    for function in (lambda t: bank(t, X1, X2), lambda t: bank.noise(t, X1)):
        np.testing.assert_allclose(function(theta[:, 1]), function(theta)[:, 1], atol=1e-14)


@pytest.mark.parametrize(
    "kernel",
    [
        Exponential(variance=2.0, lengthscales=0.7),
        Exponential(lengthscales=[0.5, 1.5]),
        ArcCosine(order=1, weight_variances=[0.3, 2.0], bias_variance=0.5),
        Exponential(active_dims=[1]) * gpflow.kernels.SquaredExponential(active_dims=[0]),
        Exponential() + gpflow.kernels.Linear() * gpflow.kernels.Polynomial(),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_opaque_kernel__has_its_values_and_their_gradient(kernel: Kernel) -> None:
    bank, theta = opaque_bank(kernel)
    _, X1, X2 = draw(bank)
    np.testing.assert_allclose(bank(theta, X1, X2)[0], kernel(X1, X2), atol=1e-10)
    np.testing.assert_allclose(bank(theta, X1)[0], kernel(X1), atol=1e-10)
    np.testing.assert_allclose(bank.diag(theta, X1)[0], kernel(X1, full_cov=False), atol=1e-10)
    np.testing.assert_allclose(bank.noise(theta, X1)[0], np.exp(theta[0, 0]), atol=1e-10)
    assert_gradient_is_that_of_differences(lambda t: bank(t, X1, X2), theta)
    assert_gradient_is_that_of_differences(lambda t: bank.diag(t, X1), theta)


def test_white_noise_beside_an_opaque_kernel__is_noise() -> None:
    kernel = Exponential() * (gpflow.kernels.Linear() + White(0.3)) + White(0.2)
    bank, theta = opaque_bank(kernel)
    _, X, _ = draw(bank)
    assert theta[0, 0] == pytest.approx(np.log(0.2))
    np.testing.assert_allclose(bank.noise(theta, X)[0], 0.5, atol=1e-10)
    whole = kernel(X).numpy()
    np.testing.assert_allclose(bank(theta, X)[0], whole - 0.5 * np.eye(len(X)), atol=1e-10)
    np.testing.assert_allclose(bank.diag(theta, X)[0], np.diag(whole) - 0.5, atol=1e-10)
    assert_gradient_is_that_of_differences(lambda t: bank.noise(t, X), theta)


def test_white_noise_inside_an_opaque_kernel__is_noise() -> None:
    parts = [Exponential(), White(0.3), Constant()]
    kernel = ChangePoints(parts, locations=[-0.5, 0.5], steepness=3.0)
    bank, theta = opaque_bank(kernel)
    _, X, _ = draw(bank)
    signal, noise = bank.diag(theta, X)[0], bank.noise(theta, X)[0] - np.exp(theta[0, 0])
    np.testing.assert_allclose(signal, np.diag(bank(theta, X)[0]), atol=1e-10)
    np.testing.assert_allclose(signal + noise, kernel(X, full_cov=False), atol=1e-10)
    assert np.all(noise > 0.0)
    assert_gradient_is_that_of_differences(lambda t: bank.noise(t, X), theta)


def test_product_of_many_sums__is_evaluated_by_its_kernel() -> None:
    bank = bank_of([MANY_TERMS, "SE"])
    assert isinstance(bank, GPflowBank)
    theta, X1, X2 = draw(bank)
    kernel = to_gpflow(MANY_TERMS, theta=theta[0, 1])
    np.testing.assert_allclose(bank(theta, X1, X2)[0, 1], kernel(X1, X2), atol=1e-10)


@pytest.mark.parametrize("text", ["SE + LIN", MANY_TERMS])
def test_bank_of__agrees_with_is_batchable(text: str) -> None:
    bank = bank_of([text])
    assert type(bank) is (Bank if is_batchable(text) else GPflowBank)
    assert bank.expressions == (bank.layouts[0].expression,)


def test_bank_of__passes_on_what_it_is_told() -> None:
    bank = bank_of(["SE"], 3, ard=False, differentiable_inputs=True)
    assert isinstance(bank, Bank)
    assert (bank.num_inputs, bank.ard, bank.differentiable_inputs) == (3, False, True)
    alone = bank_of([MANY_TERMS], 3, ard=False)
    assert (alone.num_inputs, alone.ard) == (3, False)
    with pytest.raises(GrammarError, match=r"cannot be batched, .* no gradient for inputs"):
        bank_of(["SE", MANY_TERMS], differentiable_inputs=True)


def test_persistent_tape__gives_both_gradients() -> None:
    bank = GPflowBank(["SE", "LIN"])
    theta, X, _ = draw(bank)
    at = tf.constant(theta)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(at)
        first, second = bank(at, X), bank(2.0 * at, X)
    for value, scale in ((first, 1.0), (second, 2.0), (first, 1.0)):
        weights = np.cos(np.arange(tf.size(value))).reshape(value.shape)
        pulled = tape.gradient(value, at, output_gradients=weights)
        alone = value_and_gradient(lambda t: bank(t, X), scale * theta)[1]
        np.testing.assert_allclose(pulled, scale * alone, rtol=1e-12, atol=1e-12)


def test_gradients__flow_to_theta_only() -> None:
    bank = GPflowBank(["SE"])
    theta, X, _ = draw(bank)
    inputs = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = bank(theta, inputs)
    assert tape.watched_variables() == ()
    assert tape.gradient(value, inputs) is None


def test_values_that_are_not_finite__stay_with_their_candidate() -> None:
    bank = GPflowBank(["SE", "SE + LIN", "LIN"])
    theta, X, _ = draw(bank)
    good = value_and_gradient(lambda t: bank(t, X), theta)
    broken = theta.copy()
    broken[1] = np.nan
    for mine, expected in zip(value_and_gradient(lambda t: bank(t, X), broken), good, strict=True):
        np.testing.assert_allclose(mine[[0, 2]], expected[[0, 2]], atol=1e-14)
        assert np.isnan(mine[1]).any()


def test_threads__do_not_mix_their_theta() -> None:
    bank = GPflowBank(["LIN * PER", "LIN * PER"])
    theta, X, _ = draw(bank, num_samples=8)
    together = bank(theta, X).numpy()
    with ThreadPoolExecutor(4) as pool:
        apart = list(pool.map(lambda s: bank(theta[:, s], X).numpy(), range(8)))
    np.testing.assert_allclose(np.stack(apart, axis=1), together, atol=1e-14)


def test_split__keeps_candidates_and_their_order() -> None:
    bank = GPflowBank(K12)
    assert bank.split(1) == (bank,)
    pieces = bank.split(5)
    assert pieces is bank.split(5)
    assert [len(piece) for piece in pieces] == [2, 2, 3, 2, 3]
    assert sum((piece.expressions for piece in pieces), ()) == bank.expressions
    assert [len(piece) for piece in bank.split(100)] == [1] * len(K12)


def test_pieces__have_the_values_of_the_whole() -> None:
    bank = GPflowBank(["SE", "LIN * PER", "LIN"])
    theta, X, _ = draw(bank)
    pieces = bank.split(3)
    apart = [piece(theta[k : k + 1, :, : piece.num_slots], X) for k, piece in enumerate(pieces)]
    np.testing.assert_allclose(np.concatenate(apart), bank(theta, X), atol=1e-14)


def test_wrong_shapes__are_named() -> None:
    bank = GPflowBank(["SE", "LIN"], num_inputs=2)
    with pytest.raises(DataError, match=r"θ must be \[2, 4\] or \[2, S, 4\], got \(3, 4\)"):
        bank(np.zeros((3, 4)), np.zeros((5, 2)))
    with pytest.raises(DataError, match=r"inputs must be \[N, 2\] .*, got \(5, 1\)"):
        bank.noise(np.zeros((2, 4)), np.zeros((5, 1)))


@pytest.mark.parametrize("make", [GPflowBank, bank_of])
def test_no_list_of_expressions__is_refused(make: Callable[..., KernelBank]) -> None:
    with pytest.raises(GrammarError, match="at least one expression"):
        make([])
    with pytest.raises(GrammarError, match="takes a list of expressions"):
        make("SE + LIN")


def test_graph__is_refused() -> None:
    bank = GPflowBank(["SE"])
    theta, X, _ = draw(bank)
    with pytest.raises(VbksError, match="cannot be part of a graph"):
        tf.function(lambda t: bank(t, X), autograph=False)(theta)
