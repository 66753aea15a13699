from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import (
    Constant,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from gpflow.utilities import parameter_dict
from support.gpflow_kernels import X2, X, assert_same_values, read
from support.reference import kernel_matrix
from support.strategies import random_expression

from vbks.errors import GrammarError
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.kernels.gpflow import kernels as gpflow_kernels
from vbks.kernels.gpflow.conversion import assign, read_theta, to_gpflow
from vbks.kernels.gpflow.linear import Linear as VbksLinear
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import NOISE_SLOT, Layout, lay_out
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.registry import register_family

RANDOM = [random_expression(random.Random(seed)) for seed in range(60)]


def draw(layout: Layout, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=len(layout))
    return layout.prior_mean + 0.7 * layout.prior_sd * noise


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
