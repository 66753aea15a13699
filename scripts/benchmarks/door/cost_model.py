"""What a step of many candidates costs: arithmetic, memory traffic and launches, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["A100", "Machine", "Step", "epoch_seconds"]

TERMS = 274 / 144
"""Terms of a candidate in the mean over K144: what the bank takes one exponential for."""

TERM_BYTES = 200.0
"""Read and written for each number of a term and its gradient: about 25 passes of 8 bytes."""


@dataclass(frozen=True)
class Step:
    """Local ELBOs of K candidates on B rows at S samples of θ, with all gradients.

    M inducing points on D inputs; `N` rows there are in all.
    """

    K: int
    M: int
    B: int
    S: int = 1
    D: int = 1

    @property
    def matrix_flops(self) -> float:
        """Products and solves: A = L⁻¹Kuf, (S − I)A, two sums over rows and L⁻ᵀĀ; Kuu's own."""
        M, B = self.M, self.B
        return self.K * self.S * (8.0 * M * M * B + 6.0 * M**3)

    @property
    def factor_flops(self) -> float:
        """Cholesky factors of Kuu."""
        return self.K * self.S * self.M**3 / 3.0

    @property
    def term_numbers(self) -> float:
        """Numbers of terms in Kuf, once, and in Kuu, whose gradient computes it again."""
        return self.K * self.S * TERMS * self.M * (self.B + 1.5 * self.M)

    @property
    def resident_bytes(self) -> float:
        """Held during a step: twelve arrays as large as Kuu and Kuf."""
        return 8.0 * 12 * self.K * self.S * self.M * (self.M + self.B)

    @property
    def result_bytes(self) -> float:
        """Sent back when a stage ends: q(u) of every candidate. Between steps nothing is sent."""
        return 8.0 * self.K * (self.M + self.M**2)


@dataclass(frozen=True)
class Machine:
    """Rates in units per second: of products and factors of 64-bit numbers, and of terms.

    ``launch_seconds`` is what a step takes however small it is.
    """

    product_flops: float
    factor_flops: float
    term_numbers: float
    launch_seconds: float

    def seconds(self, step: Step) -> float:
        """Of one step."""
        return (
            self.launch_seconds
            + step.matrix_flops / self.product_flops
            + step.factor_flops / self.factor_flops
            + step.term_numbers / self.term_numbers
        )


A100 = Machine(
    product_flops=0.5 * 9.7e12,
    factor_flops=0.05 * 9.7e12,
    term_numbers=0.7 * 2.0e12 / TERM_BYTES,
    launch_seconds=5e-3,
)
"""An NVIDIA A100 80 GB by its data sheet, 9.7 TFLOP/s of 64-bit numbers and 2.0 TB/s, of which we
count half for products, a twentieth for factors and 70 % of the bandwidth. Launches are those of a
CPU's smallest step, as the same host issues them."""


def epoch_seconds(
    step: Step, num_rows: int, num_devices: int, chunk_size: int, machine: Machine = A100
) -> float:
    """Of one pass over all rows by K candidates, in chunks that devices take one after the other.

    Candidates need nothing of each other, so devices neither wait for nor talk to each other.
    """
    num_chunks = math.ceil(step.K / chunk_size)
    per_device = math.ceil(num_chunks / num_devices)
    own = Step(min(chunk_size, step.K), step.M, step.B, step.S, step.D)
    return per_device * math.ceil(num_rows / step.B) * machine.seconds(own)
