"""Values that a user has given with an expression: some to hold, the others to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vbks.arrays import Array
from vbks.kernels.parameters import FixedPrior, Prior


@dataclass(frozen=True)
class GivenValues:
    """θ [H] as it was given, in standardised units, and the slots that stay as they are."""

    theta: tuple[float, ...]
    fixed: tuple[int, ...] = ()

    def hold(self, thetas: Array) -> Array:
        """θ [S, H] with the given values wherever they are fixed."""
        held = thetas.copy()
        for slot in self.fixed:
            held[:, slot] = self.theta[slot]
        return held

    def priors(self, priors: Sequence[Prior]) -> tuple[Prior, ...]:
        """The priors of all slots, of which those that are fixed know their values."""
        return tuple(
            FixedPrior(self.theta[slot]) if slot in self.fixed else prior
            for slot, prior in enumerate(priors)
        )
