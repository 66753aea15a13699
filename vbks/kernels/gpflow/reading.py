"""GPflow kernels to expressions with θ, scaled as the layout has it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import gpflow
import numpy as np
from gpflow.kernels import Kernel

from vbks.arrays import Array, Mask
from vbks.data.units import Units
from vbks.errors import GrammarError
from vbks.grammar.expression import Expression
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow.columns import least_inputs
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.gpflow.numbers import ONE, Number, Part, input_sizes, slot_numbers
from vbks.kernels.gpflow.reader import Reader
from vbks.kernels.layout import Layout, lay_out


@dataclass(frozen=True, eq=False)
class KernelReading:
    """What a GPflow kernel says: an expression with its θ, scaled as the layout has it.

    ``fixed`` marks the numbers of ``theta`` [H] whose GPflow parameters are all untrainable.
    Without ``ard``, leaves on all inputs have one lengthscale and one period for all.
    """

    expression: Expression
    num_inputs: int
    ard: bool
    theta: Array
    fixed: Mask

    @property
    def layout(self) -> Layout:
        """The slots that ``theta`` and ``fixed`` are about."""
        return lay_out(self.expression, self.num_inputs, self.ard)

    def to_gpflow(self) -> Kernel:
        """A GPflow kernel at these values, of which those that are fixed are not trainable."""
        kernel = to_gpflow(self.expression, self.num_inputs, theta=self.theta, ard=self.ard)
        for parameter, slots, _ in bindings(kernel, self.layout):
            if self.fixed[list(slots)].all():
                gpflow.set_trainable(parameter, False)
        return kernel

    @property
    def given(self) -> GivenValues:
        """The values as what a fit is given."""
        return GivenValues(
            tuple(map(float, self.theta)), tuple(map(int, np.flatnonzero(self.fixed)))
        )


def from_gpflow(kernel: Kernel, num_inputs: int | None = None) -> KernelReading:
    """Read a GPflow kernel as an expression whose kernel has the same values.

    Without ``num_inputs`` there are as few as the kernel needs. Parameters that the kernel ties
    become numbers of their own, and priors on them are not read. A kernel of another class becomes
    an opaque leaf named after the class, see `vbks.kernels.gpflow.opaque`.
    """
    part, num_inputs = _read(kernel, num_inputs)
    # Leaves that each have one number for all inputs are the only ones without ARD.
    return _reading(part, num_inputs, num_inputs == 1 or input_sizes(part) != {1})


def read_standardised(
    kernel: Kernel | KernelReading, units: Units, ard: bool = True
) -> KernelReading:
    """Read a GPflow kernel whose values are in a user's units as one for standardised rows.

    What `from_gpflow` has read is taken as the kernel that it was read from.

    Lengthscales, periods, widths and places are told in standardised inputs, and variances in
    standardised targets. A line through all inputs becomes a sum of lines if the inputs have
    different scales. A kernel that becomes an opaque leaf is evaluated at the user's own inputs.
    With ``ard``, one lengthscale for several inputs becomes one for each.
    """
    if isinstance(kernel, KernelReading):
        kernel = kernel.to_gpflow()
    part, num_inputs = _read(kernel, len(units.x_scale), units)
    if not ard and max(input_sizes(part), default=1) > 1:
        raise GrammarError(
            f"the kernel of '{part.expression}' has numbers for each input where all inputs are to "
            "share one. Give its leaves one input each by active_dims."
        )
    return _reading(part * Number(-2.0 * math.log(units.y_scale), True), num_inputs, ard)


def _read(kernel: Kernel, num_inputs: int | None, units: Units | None = None) -> tuple[Part, int]:
    """The part that a whole kernel is, and the number of inputs."""
    if not isinstance(kernel, Kernel):
        raise GrammarError(f"a GPflow kernel is needed, got a {type(kernel).__name__}.")
    least = least_inputs(kernel)
    if num_inputs is None:
        num_inputs = least
    if num_inputs < least:
        raise GrammarError(f"the kernel acts on {least} inputs, got num_inputs={num_inputs}.")
    return Reader(num_inputs, units).read(kernel, tuple(range(num_inputs))), num_inputs


def _reading(part: Part, num_inputs: int, ard: bool) -> KernelReading:
    layout = lay_out(part.expression, num_inputs, ard)
    theta, fixed = layout.prior_mean, np.zeros(len(layout), bool)
    for slot, number in slot_numbers(layout.root, part, ONE):
        theta[slot], fixed[slot] = number.value, number.is_fixed
    return KernelReading(part.expression, num_inputs, ard, theta, fixed)
