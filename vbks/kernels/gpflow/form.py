"""Which kernels of GPflow a family corresponds to, and how its numbers are written in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gpflow
from gpflow.kernels import Kernel


@dataclass(frozen=True)
class GPflowForm:
    """The class of GPflow kernel that a family is written as, and the classes that are read as it.

    Parameters of a kernel have the names that the family's have; what it lacks is in its
    ``base_kernel``, which must be of the class ``base``. A family that is not ``written`` as a
    class of GPflow's has a kernel by its formula. ``factors`` are what a number of GPflow's is
    multiplied with to be ours, where they differ.
    """

    written: type[Kernel] | None = None
    read: tuple[type[Kernel], ...] = ()
    base: type[Kernel] | None = None
    factors: tuple[tuple[str, float], ...] = ()
    only_one_input: bool = False

    def make(self) -> Kernel:
        """A kernel of the class it is written as, with GPflow's own numbers."""
        assert self.written is not None
        return self.written() if self.base is None else self.written(self.base())

    def offset_of(self, name: str) -> float:
        """What is added to the logarithm of a number of GPflow's for the logarithm of ours."""
        return math.log(dict(self.factors).get(name, 1.0))

    def is_read_from(self, kernel: Kernel, num_inputs: int) -> bool:
        """Whether a kernel on this number of inputs is one of the family."""
        # Only these classes themselves: a class derived from one may compute anything.
        if type(kernel) not in (self.written, *self.read):
            return False
        is_based = self.base is None or type(kernel.base_kernel) is self.base
        return is_based and (num_inputs == 1 or not self.only_one_input)


BY_FORMULA = GPflowForm()
"""No class of GPflow has the kernel, which is evaluated by its formula."""


def owner_of(kernel: Any, name: str) -> Any:
    """The kernel that has a parameter of a leaf: itself, or the one that it is based on."""
    is_own = isinstance(getattr(kernel, name, None), gpflow.Parameter)
    return kernel if is_own else getattr(kernel, "base_kernel", kernel)
