"""What trades time for quality in stochastic fits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SvgpPolicy:
    """How many steps of θ stochastic fits take, on how many rows, and how they end."""

    max_steps: int = 24
    """θ takes up to this many steps."""

    averaged_steps: int = 4
    """This many steps of θ are averaged once it has come to rest."""

    half_length_after: float = 3.0
    """Of the averaged steps, the one after this many is half as long as the first."""

    rows_per_inducing: int = 20
    """A step sees this many rows for q(u), and as many for the gradient, per inducing point: with
    fewer, q(u) is so uncertain that correcting for it adds more noise than the rows save."""

    min_rows: int = 500
    """A step sees at least this many rows, when inducing points are few."""

    information_every: int = 3
    """The curvature is computed again after this many steps."""

    noise_gain: float = 1.5
    """A step promises this many nats by noise alone, for each parameter and each time that its rows
    go into those left out: measured around 1."""

    clear_gain: float = 3.0
    """A gradient tells of curvature if its step promises this many times the gain by noise."""

    min_gain: float = 0.05
    """A step is worth taking for this many nats per parameter."""

    fallen: float = 0.5
    """A step on all rows is taken back if it lowers the value by more nats than this."""

    shrinkage: float = 0.25
    """Steps are shorter by this factor after one was taken back."""

    max_change: float = 0.7
    """No entry of θ moves further in a step: a factor of two."""

    small_elements: int = 100 * 2000
    """Fits whose kernel matrices have up to this many numbers take all rows at once."""

    samples: int = 8
    """A stochastic bound is averaged over this many samples of q(θ), which come as pairs ±η."""

    information_rows: int = 256
    """The information of all rows is computed from this many."""

    q_steps: int = 15
    """Gaussians q(v) take up to this many natural-gradient steps on the same rows, where noise is
    not Gaussian."""

    final_passes: int = 60
    """In the end q(v) takes up to this many natural-gradient steps on all rows, where no single one
    is exact; most fits take ten."""

    value_rows: int = 200_000
    """The bound is averaged over up to this many rows, unless noise is Gaussian and one pass gives
    it."""

    sampled_rows: int = 200_000
    """Up to this many rows, samples of θ have a q(v|θ) of their own, which takes a pass for each.
    Beyond, θ is known so well that it is enough to keep what rows say about u."""

    plain_steps: int = 3000
    """Plain ascent takes this many steps, each on a minibatch; q(u) alone takes a thousand of them
    to find its place."""

    plain_rate: float = 0.01
    """Plain ascent begins with this learning rate of Adam; it falls as a cosine to a hundredth."""
