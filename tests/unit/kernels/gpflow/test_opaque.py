from __future__ import annotations

import gpflow
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.kernels import (
    ArcCosine,
    ChangePoints,
    Constant,
    Cosine,
    Exponential,
    Kernel,
    Linear,
    Matern32,
    Periodic,
    Polynomial,
    RationalQuadratic,
    SquaredExponential,
)
from support.gpflow_kernels import X, read, rebuilt

from vbks.errors import GrammarError
from vbks.grammar import families as grammar_families
from vbks.grammar.parser import parse
from vbks.kernels import registry
from vbks.kernels.gpflow import kernels as gpflow_kernels
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.opaque import OPAQUE_PRIOR_SD
from vbks.kernels.gpflow.reading import from_gpflow


class Wiener(Kernel):
    """min(|x|, |x'|), a kernel without parameters that no family describes."""

    def __init__(self, start: float = 0.0) -> None:
        super().__init__()
        self.start = start

    def K(self, X: tf.Tensor, X2: tf.Tensor | None = None) -> tf.Tensor:
        other = X if X2 is None else X2
        return tf.minimum(tf.abs(X), tf.abs(tf.transpose(other))) + self.start

    def K_diag(self, X: tf.Tensor) -> tf.Tensor:
        return tf.abs(X[:, 0]) + self.start


@pytest.mark.parametrize(
    "kernel",
    [
        Exponential(2.0, 0.5),
        Cosine(2.0, 0.5),
        ArcCosine(1, 2.0, 0.5, 0.3),
        Polynomial(2.0, 3.0, 0.5),
        Periodic(Matern32(2.0, 0.5), 1.3),
        Wiener(0.1),
        ChangePoints([SquaredExponential(2.0), Linear(3.0), Constant(0.5)], [-0.5, 0.5], 4.0),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_opaque__keeps_its_values_alone_and_in_products(kernel: Kernel) -> None:
    name = type(kernel).__name__
    assert str(read(kernel).expression) == name
    composed = SquaredExponential(3.0) * kernel * (Linear(2.0) + kernel)
    reading = read(composed)
    assert str(reading.expression) == f"SE * {name} * (LIN + {name})"
    again = from_gpflow(rebuilt(reading))
    assert again.expression == reading.expression == parse(str(reading.expression))
    np.testing.assert_allclose(again.theta, reading.theta, atol=1e-10)


def test_opaque__has_a_slot_for_every_number_as_gpflow_stores_it() -> None:
    kernel = Exponential(2.0, [0.5, 0.7])
    layout = from_gpflow(kernel).layout
    assert layout.names == (".noise", ".variance", ".lengthscales[0]", ".lengthscales[1]")
    unconstrained = kernel.lengthscales.unconstrained_variable.numpy()
    np.testing.assert_allclose(layout.prior_mean[2:], unconstrained, atol=1e-12)
    assert set(layout.prior_sd[2:]) == {OPAQUE_PRIOR_SD}
    assert layout.positive.tolist() == [True, True, False, False]


def test_opaque__takes_the_variance_as_scale_only_if_it_multiplies_the_kernel() -> None:
    assert ".variance" in from_gpflow(Cosine()).layout.names
    assert len(from_gpflow(Cosine()).theta) == 3
    polynomial = from_gpflow(Polynomial(2.0))
    assert polynomial.layout.names == (
        ".noise",
        ".variance",
        ".kernel.variance",
        ".kernel.offset",
    )
    assert isinstance(rebuilt(polynomial), gpflow_kernels.Scaled)
    assert polynomial.fixed.tolist() == [False, True, False, False]


def test_opaque__is_evaluated_with_fresh_parameters() -> None:
    from_gpflow(Exponential())
    kernel = to_gpflow("Exponential + Exponential * SE")
    assert len({id(parameter) for parameter in kernel.parameters}) == 6
    variances = [kernel.kernels[0].variance, kernel.kernels[1].kernels[0].variance]
    assert all(variance.trainable for variance in variances)
    assert not kernel.kernels[1].kernels[1].variance.trainable


def test_opaque__can_be_put_on_any_input() -> None:
    assert str(read(Exponential(2.0, 0.5, active_dims=[1])).expression) == "Exponential[2]"
    kernel = to_gpflow("Exponential[3] * Exponential", 3)
    assert list(kernel.kernels[0].active_dims) == [2]
    assert str(read(kernel, 3).expression) == "Exponential[3] * Exponential"


def test_opaque__keeps_its_place_on_some_of_the_inputs() -> None:
    kernel = RationalQuadratic(2.0, [0.5, 0.7], active_dims=[0, 2]) * Wiener()
    kernel.kernels[1].active_dims = [1]
    reading = read(kernel)
    assert str(reading.expression) == "RationalQuadratic * Wiener[2]"
    with pytest.raises(GrammarError, match="'RationalQuadratic' acts on inputs of its own"):
        to_gpflow("RationalQuadratic[2]", 3)


def test_opaque__has_one_name_for_one_configuration() -> None:
    def name(kernel: Kernel, num_inputs: int | None = None) -> str:
        return str(from_gpflow(kernel, num_inputs).expression)

    kernel = Wiener(0.5)
    fixed = Exponential(lengthscales=2.0)
    gpflow.set_trainable(fixed.lengthscales, False)
    other = Exponential()
    other.lengthscales = gpflow.Parameter(1.0, transform=tfp.bijectors.Exp())
    assert [name(kernel), name(kernel), name(Wiener(0.5))] == ["Wiener"] * 3
    assert name(Wiener(0.7)) == "Wiener_2"
    assert name(Exponential(2.0, 0.5)) == name(Exponential(3.0, 0.7)) == "Exponential"
    assert name(fixed) == "Exponential_2"
    assert name(other) == "Exponential_3"
    assert name(Exponential(lengthscales=[1.0, 2.0])) == "Exponential_4"
    assert name(fixed) == "Exponential_2"
    assert name(ArcCosine(1)) == "ArcCosine"
    assert name(ArcCosine(2)) == "ArcCosine_2"


def test_opaque__does_not_take_the_name_of_another_family() -> None:
    class SE(Wiener):
        pass

    class CP(Wiener):
        pass

    class _Ω1(Wiener):
        pass

    assert str(from_gpflow(SE()).expression) == "SE_2"
    assert str(from_gpflow(CP()).expression) == "CP_2"
    assert str(from_gpflow(_Ω1()).expression) == "Kernel"


def test_opaque__treats_a_class_derived_from_a_known_one_as_unknown() -> None:
    class Twice(SquaredExponential):
        def K_r2(self, r2: tf.Tensor) -> tf.Tensor:
            return 2.0 * super().K_r2(r2)

    assert str(read(Twice(3.0)).expression) == "Twice"


def test_opaque__leaves_the_kernel_it_was_read_from_alone() -> None:
    kernel = Exponential(2.0, 0.5, active_dims=[1])
    kernel.lengthscales.prior = tfp.distributions.Gamma(np.float64(1.0), np.float64(1.0))
    reading = from_gpflow(kernel)
    assert (kernel.variance.numpy(), list(kernel.active_dims)) == (pytest.approx(2.0), [1])
    assert kernel.lengthscales.prior is not None
    kernel.lengthscales.assign(7.0)
    copy = rebuilt(reading)
    assert copy.lengthscales.numpy() == pytest.approx(0.5)
    assert copy.lengthscales.prior is None


def test_opaque__is_stationary_when_gpflow_says_so() -> None:
    from_gpflow(Exponential() + ArcCosine())
    assert grammar_families.rules_of("Exponential").stationary
    assert not grammar_families.rules_of("ArcCosine").stationary


def test_opaque__has_no_formula() -> None:
    from_gpflow(Exponential())
    with pytest.raises(GrammarError, match="opaque family has no formula"):
        registry.family_of("Exponential").formula(X, X)
