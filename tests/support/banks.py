"""Lists of kernels as the bank's functions take them, with naive twins of their matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from support.reference import kernel_matrix
from vbks.arrays import Array
from vbks.kernels.bank.structure import DenseKind, Structure, structure_of
from vbks.kernels.layout import Layout, lay_out

RNG = np.random.default_rng(0)
X1, X2 = RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))


@dataclass(frozen=True, eq=False)
class Kernels:
    """Candidates on two inputs, and samples of θ for them [K, S, H]."""

    layouts: tuple[Layout, ...]
    structure: Structure
    dense_kinds: tuple[DenseKind, ...]
    theta: Array

    def matrices(self, first: Array, second: Array) -> Array:
        """The naive twin of the kernels without noise: [K, S, n1, n2]."""
        return np.array(
            [
                [kernel_matrix(layout, sample[: len(layout)], first, second) for sample in samples]
                for layout, samples in zip(self.layouts, self.theta, strict=True)
            ]
        )


def make_kernels(*texts: str, num_samples: int = 2, by_formula: bool = False) -> Kernels:
    """Candidates by their texts, at a θ of no particular meaning."""
    layouts = tuple(lay_out(text, 2) for text in texts)
    num_slots = max(map(len, layouts))
    theta = 0.4 * np.random.default_rng(1).normal(size=(len(texts), num_samples, num_slots))
    return Kernels(layouts, *structure_of(layouts, num_slots, by_formula), theta)
