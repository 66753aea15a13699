"""Numbers of beliefs and of averages that trade time for quality, as fields with defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerPolicy:
    """What trades time for quality where q(g) of the VBKS layer is sought."""

    pairs: int = 1024
    """There are twice as many samples ±η, a power of two of them as Sobol's points ask for: with
    the paper's 2,000 samples, errors of probabilities stay below a hundredth."""

    coupled: int = 16
    """This many of the strongest candidates may be correlated with all others. Given these, the
    weaker ones are as under the prior: correlations among them would be fitted to the samples, and
    lower the bound on fresh ones (by 0.4 nats with all of 144 candidates)."""

    resolved_sd: float = 5.0
    """Up to this standard deviation of g under the prior, `pairs` pairs resolve softmax. A wider
    one takes more pairs, with its square."""

    widest_sd: float = 20.0
    """From this standard deviation on softmax is but a step, and made softer while q(g) is sought:
    the belief has settled to two thousandths by then."""

    max_numbers: int = 2**18
    """Wide priors take more pairs only while pairs times candidates are up to this many numbers: a
    few megabytes."""

    memory: int = 20
    """The quasi-Newton ascent keeps this many pairs of steps and gradient changes."""

    tolerance: float = 1e-9
    """The quasi-Newton ascent stops at a step with this relative gain."""

    steps: int = 2000
    """The stochastic ascent takes this many steps, each with fresh samples."""

    step_pairs: int = 16
    """Each step of the stochastic ascent has this many pairs of samples."""

    rate: float = 0.05
    """Adam's first rate in the stochastic ascent; it falls to zero as a cosine."""

    optima_margin: float = 7.0
    """A mixture has a Gaussian for candidates within this many nats of the best: weaker ones would
    have less than a thousandth of the belief."""

    max_optima: int = 12
    """An optimum is sought for at most this many candidates, each of which takes an ascent."""

    same_optimum: float = 0.02
    """Two ascents have ended in the same optimum if no probability differs by more."""

    free_numbers: int = 2**22
    """Samples of a free q(g) times candidates: 32 megabytes."""

    min_free_samples: int = 2**12
    """A free q(g) has at least this many samples, which leave errors below a hundredth."""

    max_free_samples: int = 2**16
    """A free q(g) has at most this many samples."""

    prior_share: float = 0.2
    """This share of the samples of a free q(g) comes from p(g), so that no weight can be large."""


@dataclass(frozen=True)
class AveragingPolicy:
    """Which candidates predictions are averaged over, and when they are stacked unasked."""

    max_gap: float = 30.0
    """A candidate takes no part in averages from this many nats of log evidence, over the
    temperature, behind the best: Bayes' weight is 1e-13 there, and a layer with a larger one knows
    no better."""

    stacking_errors: float = 2.0
    """Stacking has to predict left-out rows better than the belief does by this many standard
    errors, after a nat for each weight that it has fitted, before it is what predictions are
    averaged with."""

    min_stacking_rows: int = 200
    """Predictions may be averaged by stacking unasked from this many rows on. With fewer, as in 92
    monthly, quarterly and yearly series, rows that are left out say little about those to come: it
    was worse in 56 of them, and in four of the six where it had seemed clearly better."""

    fitted_weight: float = 0.01
    """Weights of stacking below this count as not fitted."""

    max_left_out: int = 2000
    """At most this many rows are left out in turn to see how well candidates predict them."""
