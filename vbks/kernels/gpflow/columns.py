"""The inputs that a GPflow kernel acts on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpflow.kernels import Kernel
from gpflow.kernels.base import ReducingCombination

from vbks.errors import GrammarError
from vbks.kernels.family import BUILT_IN
from vbks.kernels.gpflow import kernels as ours
from vbks.kernels.gpflow.kernels import FamilyKernel, Scaled


def columns_of(kernel: Kernel, columns: tuple[int, ...]) -> tuple[int, ...]:
    """The columns that remain after a kernel has taken its active dimensions."""
    if isinstance(kernel, ReducingCombination):
        return columns
    dims = kernel.active_dims
    return columns[dims] if isinstance(dims, slice) else picked(kernel, dims.tolist(), columns)


def picked(kernel: Kernel, dims: Sequence[int], columns: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the columns that a kernel names by their numbers."""
    beyond = max(dims, default=0)
    if beyond >= len(columns):
        raise GrammarError(
            f"a {type(kernel).__name__} kernel acts on input {beyond + 1} of {len(columns)} inputs."
        )
    return tuple(columns[dim] for dim in dims)


def least_inputs(kernel: Any) -> int:
    """The fewest inputs on which a kernel can be evaluated, as its dimensions and sizes tell."""
    operands = [*getattr(kernel, "kernels", ()), getattr(kernel, "base_kernel", None)]
    if isinstance(kernel, Scaled):
        operands.append(kernel.kernel)
    inner = [least_inputs(operand) for operand in operands if isinstance(operand, Kernel)]
    if isinstance(kernel, ReducingCombination):
        return max(inner, default=1)
    dims = kernel.active_dims
    if not isinstance(dims, slice):
        return int(max(dims, default=0)) + 1
    if isinstance(kernel, ours.ChangePoint | ours.ChangeWindow):
        inner.append(kernel.column + 1)
    own = [kernel.family] if type(kernel) is FamilyKernel else BUILT_IN.values()
    names = {parameter.name for family in own for parameter in family.parameters}
    arrays: list[Any] = [getattr(kernel, n, None) for n in (*names, "variance", "weight_variances")]
    widths = [len(a.numpy()) for a in arrays if getattr(a, "shape", None) and len(a.shape) == 1]
    return max(dims.stop or 0, (dims.start or 0) + max([1, *inner, *widths]))
