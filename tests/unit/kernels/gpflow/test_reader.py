"""Kernels in a user's units as parts for standardised inputs. Without units: `test_reading`."""

import math

import numpy as np
import pytest
from gpflow.kernels import ChangePoints, Constant, Linear, Matern12, Periodic, SquaredExponential

from vbks.data.units import Units
from vbks.kernels.gpflow.kernels import ChangePoint, ChangeWindow
from vbks.kernels.gpflow.linear import Linear as VbksLinear
from vbks.kernels.gpflow.reader import Reader

UNITS = Units(np.array([10.0, -3.0]), np.array([2.0, 5.0]), 0.0, 1.0)


def part_of(kernel, num_inputs=2):
    units = Units(UNITS.x_mean[:num_inputs], UNITS.x_scale[:num_inputs], 0.0, 1.0)
    return Reader(num_inputs, units).read(kernel, tuple(range(num_inputs)))


def values(part, name):
    return [number.value for number in part.own[name]]


def test_lengths__are_divided_by_the_scales_of_their_inputs():
    part = part_of(Periodic(SquaredExponential(3.0, 0.8), [4.0, 7.0]))
    assert str(part.expression) == "PER"
    assert values(part, "period") == pytest.approx([math.log(4 / 2), math.log(7 / 5)])
    assert part.scale.value == pytest.approx(math.log(3.0))


def test_lengthscales__of_smooth_kernels_become_one_for_each_input():
    part = part_of(SquaredExponential(lengthscales=3.0))
    assert values(part, "lengthscales") == pytest.approx([math.log(3 / 2), math.log(3 / 5)])


def test_lines__keep_their_zero_and_their_slope():
    """σ²(x−ℓ)(x'−ℓ) with x = 10 + 2z is 4σ²(z−(ℓ−10)/2)(z'−(ℓ−10)/2)."""
    part = part_of(VbksLinear(0.7, 13.0), 1)
    assert str(part.expression) == "LIN"
    assert values(part, "location") == pytest.approx([(13 - 10) / 2])
    assert part.scale.value == pytest.approx(math.log(0.7 * 2**2))


def test_lines__of_inputs_with_different_scales_are_apart():
    part = part_of(Linear(0.7))
    assert str(part.expression) == "LIN[1] + LIN[2]"
    found = [operand.scale.value for operand in part.operands]
    assert found == pytest.approx([math.log(0.7 * 2**2), math.log(0.7 * 5**2)])


def changes():
    """The same change, as ours and as GPflow's."""
    smooth = SquaredExponential(active_dims=[0])
    gpflows = ChangePoints([Constant(), smooth], [7.0], [3.0])
    gpflows.active_dims = [1]
    return [ChangePoint([Constant(), smooth], 7.0, 3.0, column=1), gpflows]


@pytest.mark.parametrize("kernel", changes(), ids=["ours", "GPflow's"])
def test_changes__are_as_steep_where_they_were(kernel):
    """s(x−ℓ) with x = −3 + 5z is 5s(z−(ℓ+3)/5)."""
    part = part_of(kernel)
    assert str(part.expression).startswith("CP[2](C")
    assert values(part, "location") == pytest.approx([(7 + 3) / 5])
    assert values(part, "steepness") == pytest.approx([math.log(5 * 3.0)])


def test_windows__have_a_width_in_units_of_their_input():
    window = ChangeWindow([Constant(), Constant()], 7.0, 3.0, 0.8, column=1)
    assert values(part_of(window), "width") == pytest.approx([math.log(0.8 / 5)])


def test_opaque_kernels__are_evaluated_at_the_users_inputs():
    kernel = Matern12(2.0, [3.0, 4.0])
    part = part_of(kernel)
    assert str(part.expression).startswith("Matern12")
    assert part.scale.value == pytest.approx(math.log(2.0))
    assert not part.operands
