from __future__ import annotations

import math
from collections.abc import Callable

import gpflow
import numpy as np
import pytest
from gpflow.kernels import (
    ChangePoints,
    Constant,
    Exponential,
    Kernel,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from support.gpflow_kernels import read

from vbks.errors import GrammarError
from vbks.kernels.gpflow import kernels as gpflow_kernels
from vbks.kernels.gpflow.linear import Linear as VbksLinear
from vbks.kernels.gpflow.reading import KernelReading, from_gpflow
from vbks.kernels.layout import NOISE_SLOT


def positive_part(reading: KernelReading) -> dict[str, float]:
    """The numbers of a reading by name, those behind logarithms as they are."""
    values = np.where(reading.layout.positive, np.exp(reading.theta), reading.theta)
    return dict(zip(reading.layout.names, values, strict=True))


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
