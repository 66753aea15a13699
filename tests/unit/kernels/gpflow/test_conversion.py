from __future__ import annotations

import math
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from gpflow.utilities import parameter_dict
from support.reference import kernel_matrix
from support.strategies import random_expression

from vbks.errors import GrammarError
from vbks.grammar import families as grammar_families
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.kernels import registry
from vbks.kernels.gpflow import kernels as gpflow_kernels
from vbks.kernels.gpflow.conversion import assign, read_theta, to_gpflow
from vbks.kernels.gpflow.linear import Linear as VbksLinear
from vbks.kernels.gpflow.opaque import OPAQUE_PRIOR_SD
from vbks.kernels.gpflow.reading import KernelReading, from_gpflow
from vbks.kernels.layout import NOISE_SLOT, Layout, lay_out
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.registry import register_family

X = np.random.default_rng(0).normal(size=(5, 4))
X2 = np.random.default_rng(1).normal(size=(4, 4))

RANDOM = [random_expression(random.Random(seed)) for seed in range(60)]


def draw(layout: Layout, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=len(layout))
    return layout.prior_mean + 0.7 * layout.prior_sd * noise


def rebuilt(reading: KernelReading) -> Kernel:
    return to_gpflow(reading.expression, reading.num_inputs, theta=reading.theta, ard=reading.ard)


def assert_same_values(first: Kernel, second: Kernel, num_inputs: int) -> None:
    A, B = X[:, :num_inputs], X2[:, :num_inputs]
    np.testing.assert_allclose(first(A), second(A), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(first(A, B), second(A, B), rtol=1e-10, atol=1e-10)


def read(kernel: Kernel, num_inputs: int | None = None) -> KernelReading:
    """Read a kernel and check that its values have not changed."""
    reading = from_gpflow(kernel, num_inputs)
    assert_same_values(kernel, rebuilt(reading), reading.num_inputs)
    return reading


def positive_part(reading: KernelReading) -> dict[str, float]:
    """The numbers of a reading by name, those behind logarithms as they are."""
    values = np.where(reading.layout.positive, np.exp(reading.theta), reading.theta)
    return dict(zip(reading.layout.names, values, strict=True))


@pytest.mark.parametrize("expression", K144, ids=str)
def test_to_gpflow__of_every_kernel_of_level_three_is_its_naive_twin(
    expression: Expression,
) -> None:
    layout = lay_out(expression)
    theta = draw(layout)
    kernel, inputs = to_gpflow(expression, theta=theta), X[:, :1]
    expected = kernel_matrix(layout, theta, inputs)
    np.testing.assert_allclose(kernel(inputs), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(read_theta(kernel, layout)[1:], theta[1:], atol=1e-12)
    reading = from_gpflow(kernel)
    assert (reading.expression, reading.num_inputs) == (expression, 1)
    np.testing.assert_allclose(reading.theta[1:], theta[1:], atol=1e-10)
    assert not reading.fixed.any()


@pytest.mark.parametrize("seed", range(len(RANDOM)), ids=lambda seed: str(RANDOM[seed]))
def test_to_gpflow__of_random_expressions_is_their_naive_twin_and_read_back(seed: int) -> None:
    expression, ard = RANDOM[seed], seed % 2 == 0
    layout = lay_out(expression, 4, ard)
    theta = draw(layout, seed)
    if NOISE_SLOT not in scales_of_terms(layout):
        theta[NOISE_SLOT] = layout.prior_mean[NOISE_SLOT]
    kernel = to_gpflow(expression, 4, theta=theta, ard=ard)
    for other in (None, X2):
        expected = kernel_matrix(layout, theta, X, other)
        np.testing.assert_allclose(kernel(X, other), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(read_theta(kernel, layout), theta, rtol=1e-12, atol=1e-12)
    reading = from_gpflow(kernel, 4)
    assert reading.expression == expression
    assert reading.layout.slots == layout.slots
    np.testing.assert_allclose(reading.theta, theta, rtol=1e-10, atol=1e-10)
    assert not reading.fixed.any()


def scales_of_terms(layout: Layout) -> set[int | None]:
    """The slots of leaves in the top-level sum, among them the noise if one is white noise."""
    return {node.scale for node in (layout.root, *layout.root.operands)}


@pytest.mark.parametrize("expression", RANDOM[::10], ids=str)
def test_to_gpflow__is_positive_semi_definite(expression: Expression) -> None:
    kernel = to_gpflow(expression, 4, theta=draw(lay_out(expression, 4)))
    eigenvalues = np.linalg.eigvalsh(kernel(np.vstack([X, X2])).numpy())
    assert eigenvalues.min() > -1e-10 * eigenvalues.max()


def test_to_gpflow__starts_at_the_prior_means() -> None:
    layout = lay_out(parse("SE * PER + LIN + WN"))
    kernel = to_gpflow("SE * PER + LIN + WN")
    np.testing.assert_allclose(read_theta(kernel, layout), layout.prior_mean, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SE", SquaredExponential),
        ("RQ", RationalQuadratic),
        ("M32", Matern32),
        ("M52", Matern52),
        ("PER", Periodic),
        ("PER0", gpflow_kernels.FamilyKernel),
        ("LIN", VbksLinear),
        ("C", Constant),
        ("WN", White),
        ("SE + PER", gpflow.kernels.Sum),
        ("SE * PER", gpflow.kernels.Product),
        ("CP(SE, PER)", gpflow_kernels.ChangePoint),
        ("CW(SE, PER)", gpflow_kernels.ChangeWindow),
    ],
)
def test_to_gpflow__uses_the_classes_of_gpflow_where_they_fit(text: str, kind: type) -> None:
    assert type(to_gpflow(text)) is kind


@pytest.mark.parametrize(
    "text", ["SE[2]", "PER[2]", "LIN[2]", "PER0[2]", "RQ[2]", "M32[2]", "C[2]", "WN[2]"]
)
def test_to_gpflow__counts_active_dims_from_zero(text: str) -> None:
    assert list(to_gpflow(text, 3).active_dims) == [1]


@pytest.mark.parametrize(
    ("text", "num_inputs"),
    [("SE", 1), ("SE[3]", 3), ("SE[1] * PER[2] + LIN", 2), ("CP[2](SE, C)", 2)],
)
def test_to_gpflow__finds_the_number_of_inputs(text: str, num_inputs: int) -> None:
    points = np.random.default_rng(0).normal(size=(4, num_inputs))
    np.testing.assert_array_equal(to_gpflow(text)(points), to_gpflow(text, num_inputs)(points))
    assert len(to_gpflow("M52 + C[2]").kernels[0].lengthscales.numpy()) == 2


def test_to_gpflow__gives_every_leaf_parameters_of_its_own() -> None:
    kernel = to_gpflow("SE + SE + SE * SE")
    assert len({id(parameter) for parameter in kernel.parameters}) == 8


@pytest.mark.parametrize("text", ["SE * PER + LIN * (C + RQ)", "CW(SE, LIN * SE) + WN"])
def test_to_gpflow__has_parameters_where_the_slots_say(text: str) -> None:
    kernel, layout = to_gpflow(text, 2), lay_out(parse(text), 2)
    paths = {path.replace(".base_kernel", "") for path in parameter_dict(kernel)}
    slots = [slot for slot in layout.slots if slot.parameter.name != "noise"]
    assert {f"{slot.path}.{slot.parameter.name}" for slot in slots} <= paths


@pytest.mark.parametrize("expression", RANDOM[::6], ids=str)
def test_to_gpflow__trains_the_numbers_of_the_layout_and_no_others(expression: Expression) -> None:
    kernel, layout = to_gpflow(expression, 4), lay_out(expression, 4)
    free = sum(variable.shape.num_elements() for variable in kernel.trainable_variables)
    assert free == len(layout) - (NOISE_SLOT not in scales_of_terms(layout))
    unit = [p.numpy() for p in kernel.parameters if not p.trainable]
    assert np.all(np.array(unit) == 1.0)


def test_to_gpflow__halves_the_lengthscale_of_gpflow_periodic() -> None:
    kernel = to_gpflow("PER", theta=np.log([1.0, 2.0, 0.6, 1.3]))
    assert kernel.base_kernel.lengthscales.numpy() == pytest.approx(0.3)
    sine = np.sin(np.pi * (X[:, :1] - X2[:, 0]) / 1.3)
    expected = 2.0 * np.exp(-2.0 * sine**2 / 0.6**2)
    np.testing.assert_allclose(kernel(X[:, :1], X2[:, :1]), expected, rtol=1e-12)


def test_to_gpflow__without_ard_shares_lengthscale_and_period_but_no_location() -> None:
    kernel = to_gpflow("PER + SE + LIN", 3, ard=False)
    periodic, smooth, line = kernel.kernels
    assert periodic.period.shape == periodic.base_kernel.lengthscales.shape == ()
    assert smooth.lengthscales.shape == ()
    assert line.location.shape == (3,)


def test_to_gpflow__with_ard_has_a_lengthscale_for_each_input() -> None:
    kernel = to_gpflow("PER + SE[2]", 3)
    assert kernel.kernels[0].period.shape == (3,)
    assert kernel.kernels[1].lengthscales.shape == ()


def test_to_gpflow__refuses_an_input_that_is_not_there() -> None:
    with pytest.raises(GrammarError, match="uses input 3, but the number of inputs is 2"):
        to_gpflow("SE[3]", 2)


def test_to_gpflow__evaluates_a_registered_family() -> None:
    register_family(
        "TENT",
        lambda X1, X2, width: tf.reduce_prod(tf.maximum(1 - tf.abs(X1 - X2) / width, 0), axis=-1),
        (Parameter("width", NormalPrior(0.5, 1.0), per_input=True),),
        stationary=True,
    )
    theta = np.log([0.1, 2.0, 1.5, 2.5])
    kernel = to_gpflow("TENT", 2, theta=theta)
    distance = np.abs(X[:, None, :2] - X2[None, :, :2]) / [1.5, 2.5]
    expected = 2.0 * np.maximum(1 - distance, 0).prod(axis=-1)
    np.testing.assert_allclose(kernel(X[:, :2], X2[:, :2]), expected, rtol=1e-10)
    np.testing.assert_allclose(read(kernel).theta[1:], theta[1:], atol=1e-12)


def test_assign__changes_the_kernel_in_place() -> None:
    expression = parse("(SE + PER) * (LIN + C) + CP(RQ, WN)")
    layout = lay_out(expression)
    kernel = to_gpflow(expression)
    variables = [variable.ref() for variable in kernel.variables]
    theta = draw(layout, 5)
    assign(kernel, layout, theta)
    assert [variable.ref() for variable in kernel.variables] == variables
    assert_same_values(kernel, to_gpflow(expression, theta=theta), 1)


def test_assign__refuses_another_number_of_hyperparameters() -> None:
    with pytest.raises(GrammarError, match=r"θ of 'SE' on 1 inputs has shape \(3,\), got \(4,\)"):
        to_gpflow("SE", theta=np.zeros(4))


def test_to_gpflow__can_be_called_from_several_threads() -> None:
    expected = to_gpflow("SE * PER + RQ")(X[:, :1]).numpy()
    with ThreadPoolExecutor(4) as pool:
        values = pool.map(lambda _: to_gpflow("SE * PER + RQ")(X[:, :1]).numpy(), range(20))
    assert all(np.array_equal(value, expected) for value in values)


def test_read_theta__takes_noise_from_white_noise_or_the_prior() -> None:
    with_noise, without = lay_out(parse("SE + WN")), lay_out(parse("SE"))
    assert read_theta(to_gpflow("SE + WN", theta=np.full(3, 0.4)), with_noise)[0] == 0.4
    assert read_theta(to_gpflow("SE", theta=np.full(3, 0.4)), without)[0] == without.prior_mean[0]


MADE_IN_GPFLOW: dict[str, Callable[[], Kernel]] = {
    "SE": lambda: SquaredExponential(2.0, 0.5),
    "SE + PER": lambda: SquaredExponential(2.0, 0.5) + Periodic(SquaredExponential(0.3, 0.7), 1.7),
    "OU + LIN": lambda: Matern12(2.0, 0.5) + Linear(4.0),
    "M32 + M52 * LIN": lambda: Matern32(2.0, 0.5) + Matern52(3.0, 0.7) * Linear(4.0),
    "RQ * LIN": lambda: RationalQuadratic(2.0, 0.5, 3.0) * Linear(4.0),
    "(SE + LIN) * PER * C": lambda: (
        (SquaredExponential(2.0) + Linear(0.3))
        * Periodic(SquaredExponential(3.0), 2.0)
        * Constant(5.0)
    ),
    "SE * (LIN + C) * (SE + WN * RQ)": lambda: (
        SquaredExponential(2.0)
        * (Linear(0.3) + Constant(4.0))
        * (SquaredExponential(7.0, 0.2) + White(3.0) * RationalQuadratic(0.6))
    ),
    "(SE + C) * SE + LIN * C": lambda: (
        (SquaredExponential(2.0) + Constant(3.0)) * SquaredExponential(0.3, 2.0)
        + Linear(2.0) * Constant(0.2)
    ),
    "CP[1](SE * C, LIN + WN)": lambda: ChangePoints(
        [SquaredExponential(2.0) * Constant(3.0), Linear(0.3) + White(0.1)], [0.3], 4.0
    ),
    "SE * CP[1](SE, LIN)": lambda: (
        SquaredExponential(2.0) * ChangePoints([SquaredExponential(3.0), Linear(4.0)], [0.3], [4.0])
    ),
}


@pytest.mark.parametrize("text", MADE_IN_GPFLOW)
def test_from_gpflow__keeps_the_values_of_kernels_made_in_gpflow(text: str) -> None:
    reading = read(MADE_IN_GPFLOW[text]())
    assert str(reading.expression) == text
    assert reading.num_inputs == 1


def test_from_gpflow__keeps_a_distance_in_several_inputs_as_gpflow_has_it() -> None:
    kernel = Matern12(2.0, [0.5, 0.7])
    assert str(read(kernel, 2).expression) == "Matern12"
    apart = Matern12(2.0, 0.5, active_dims=[0]) * Matern12(1.0, 0.7, active_dims=[1])
    assert str(read(apart, 2).expression) == "OU[1] * OU[2]"


def test_from_gpflow__gathers_the_scale_of_a_product_in_one_number() -> None:
    kernel = SquaredExponential(2.0) * (Linear(3.0) + Constant(5.0)) * (White(0.5) + Constant(1.5))
    numbers = positive_part(read(kernel))
    assert numbers[".kernels[1].kernels[0].variance"] == pytest.approx(2.0 * 3.0 * 2.0)
    assert numbers[".kernels[1].kernels[1].variance"] == pytest.approx(2.0 * 5.0 * 2.0)
    assert numbers[".kernels[2].weights"] == pytest.approx(math.log(0.5 / 1.5))


def test_from_gpflow__reads_white_noise_in_a_sum_as_the_noise() -> None:
    reading = read(SquaredExponential() + White(0.3))
    assert reading.theta[NOISE_SLOT] == pytest.approx(math.log(0.3))


def test_from_gpflow__unties_a_kernel_added_to_itself() -> None:
    leaf = SquaredExponential(2.0)
    assert str(read(leaf + leaf).expression) == "SE + SE"
    assert len(read(leaf + leaf).theta) == 5


def test_from_gpflow__reads_a_line_without_location_as_one_fixed_at_zero() -> None:
    reading = read(Linear(2.0), 2)
    assert str(reading.expression) == "LIN"
    assert reading.fixed.tolist() == [False, False, True, True]
    assert reading.theta[2:].tolist() == [0.0, 0.0]


def test_from_gpflow__splits_a_line_with_a_variance_for_each_input() -> None:
    reading = read(Linear([2.0, 3.0, 4.0]) * SquaredExponential(active_dims=[1]))
    assert str(reading.expression) == "(LIN[1] + LIN[2] + LIN[3]) * SE[2]"


@pytest.mark.parametrize(
    ("kernel", "text", "num_inputs"),
    [
        (SquaredExponential(active_dims=[2]), "SE[3]", 3),
        (SquaredExponential(active_dims=[0]), "SE[1]", 1),
        (SquaredExponential(active_dims=slice(1, 2)), "SE[2]", 2),
        (SquaredExponential(active_dims=slice(0, 2), lengthscales=[0.4, 0.7]), "SE", 2),
        (SquaredExponential(active_dims=slice(1, None), lengthscales=[1, 2]), "SE[2] * SE[3]", 3),
        (SquaredExponential(active_dims=[2, 0], lengthscales=[0.4, 0.7]), "SE[3] * SE[1]", 3),
        (SquaredExponential(active_dims=[1, 0], lengthscales=[0.4, 0.7]), "SE", 2),
        (Matern52(active_dims=slice(0, 3), lengthscales=[0.4, 0.7, 2.0]), "M52", 3),
        (Matern32(2.0, 0.5, active_dims=[1]), "M32[2]", 2),
        (Periodic(SquaredExponential(active_dims=[0, 2]), [0.4, 0.7]), "PER[1] * PER[3]", 3),
        (Linear(2.0, active_dims=[0, 2]), "LIN[1] + LIN[3]", 3),
        (VbksLinear(2.0, [0.3, 0.5], [0, 2]), "LIN[1] + LIN[3]", 3),
        (Constant(2.0, active_dims=[0, 2]), "C", 3),
        (White(2.0, active_dims=[2]), "WN[3]", 3),
        (gpflow_kernels.ChangePoint([Constant(), White()], column=1), "CP[2](C, WN)", 2),
    ],
)
def test_from_gpflow__follows_active_dims(kernel: Kernel, text: str, num_inputs: int) -> None:
    reading = read(kernel)
    assert (str(reading.expression), reading.num_inputs) == (text, num_inputs)


def test_from_gpflow__maps_columns_through_change_points_on_one_input() -> None:
    kernel = ChangePoints([SquaredExponential(), Exponential()], [0.2], 3.0)
    kernel.active_dims = [2]
    assert str(read(kernel).expression) == "CP[3](SE[3], Exponential[3])"


@pytest.mark.parametrize(
    ("kernel", "num_inputs", "ard"),
    [
        (SquaredExponential(lengthscales=[1.0, 2.0, 3.0]), 3, True),
        (Periodic(SquaredExponential(), [1.0, 2.0]), 2, True),
        (SquaredExponential() + SquaredExponential(active_dims=[1]), 2, False),
        (SquaredExponential() * RationalQuadratic(lengthscales=[1.0, 2.0]), 2, True),
        (SquaredExponential(), 1, True),
        (Constant() + Linear(active_dims=[1]), 2, True),
    ],
)
def test_from_gpflow__infers_inputs_and_ard_from_sizes(
    kernel: Kernel, num_inputs: int, ard: bool
) -> None:
    reading = read(kernel)
    assert (reading.num_inputs, reading.ard) == (num_inputs, ard)


def test_from_gpflow__marks_what_is_not_trainable() -> None:
    kernel = SquaredExponential(2.0) * Periodic(SquaredExponential(3.0)) + Linear()
    product, line = kernel.kernels
    gpflow.set_trainable(product.kernels[0].variance, False)
    gpflow.set_trainable(product.kernels[0].lengthscales, False)
    gpflow.set_trainable(line.variance, False)
    assert fixed_names(kernel) == {
        ".kernels[0].kernels[0].lengthscales",
        ".kernels[1].variance",
        ".kernels[1].location",
    }
    gpflow.set_trainable(product.kernels[1].base_kernel.variance, False)
    assert ".kernels[0].kernels[0].variance" in fixed_names(kernel)


def test_from_gpflow__fixes_a_weight_when_both_scales_are_fixed() -> None:
    kernel = SquaredExponential() * (Constant() + Linear()) * (Constant() + White())
    gpflow.set_trainable(kernel.kernels[2].kernels[0], False)
    assert ".kernels[2].weights" not in fixed_names(kernel)
    gpflow.set_trainable(kernel.kernels[2].kernels[1], False)
    assert ".kernels[2].weights" in fixed_names(kernel)


def fixed_names(kernel: Kernel) -> set[str]:
    reading = read(kernel)
    return {
        name for name, is_fixed in zip(reading.layout.names, reading.fixed, strict=True) if is_fixed
    }


def test_from_gpflow__reads_combinations_of_our_own() -> None:
    smooth, line = SquaredExponential(2.0), VbksLinear(0.5, 0.3)
    inner = gpflow_kernels.ConvexSum([smooth, line], [0.3, 0.7])
    kernel = gpflow_kernels.Scaled(inner + Constant(), 3.0) * gpflow_kernels.ChangeWindow(
        [smooth, inner], 0.2, 3.0, 0.8, weights=[0.4, 0.6]
    )
    assert str(read(kernel).expression) == "(SE + LIN + C) * CW[1](SE, SE + LIN)"


def test_from_gpflow__refuses_what_is_no_kernel() -> None:
    with pytest.raises(GrammarError, match="a GPflow kernel is needed, got a str"):
        from_gpflow("SE")  # type: ignore[arg-type]


def test_from_gpflow__refuses_fewer_inputs_than_the_kernel_acts_on() -> None:
    with pytest.raises(GrammarError, match="acts on 3 inputs, got num_inputs=2"):
        from_gpflow(SquaredExponential(active_dims=[2]), 2)


def test_from_gpflow__refuses_sizes_that_do_not_fit() -> None:
    with pytest.raises(GrammarError, match="lengthscales of a SquaredExponential kernel has 2 ent"):
        from_gpflow(SquaredExponential(lengthscales=[1.0, 2.0]), 3)
    with pytest.raises(GrammarError, match="2 entries, but the kernel acts on 3 of 3 inputs"):
        from_gpflow(Linear([1.0, 2.0]), 3)


def test_from_gpflow__refuses_change_points_on_several_inputs() -> None:
    with pytest.raises(GrammarError, match="ChangePoints acts on one input, here on 2"):
        from_gpflow(ChangePoints([SquaredExponential(), Linear()], [0.0]), 2)


def test_from_gpflow__refuses_kernels_for_several_targets() -> None:
    with pytest.raises(GrammarError, match="SharedIndependent kernel is for several targets"):
        from_gpflow(gpflow.kernels.SharedIndependent(SquaredExponential(), 2))


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
