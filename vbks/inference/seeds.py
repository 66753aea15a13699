"""What random numbers are drawn for: each purpose has a generator of its own.

The texts are part of the seeds. Another text gives other numbers, and with them other answers.
"""

from __future__ import annotations

from enum import Enum


class Seed(Enum):
    """A purpose of random numbers, by the text that its generator is seeded with."""

    SUMMARY_ROWS = "sample"
    """Rows of which inputs are summarised, and among which inducing inputs are chosen."""

    INDUCING = "inducing"
    """The inducing inputs of all candidates."""

    SCREENING_ROWS = "rows of the look"
    """Rows of a screening."""

    SCREENING_INDUCING = "look"
    """The inducing inputs of a screening."""

    INTERMEDIATE_ROWS = "rows of the middle"
    """Rows of the intermediate subset."""

    SECOND_SCREENING = "second look"
    """Rows and inducing inputs of the screening before SVGP steps."""

    THETA_POSTERIOR = "q(θ)"
    """Samples of θ over which a bound with q(θ) is averaged."""

    INFORMATION_ROWS = "information"
    """Rows of which the information of all is computed."""

    PLAIN_ASCENT = "plain ascent"
    """Samples of θ in the steps of plain ascent."""

    RESIDUAL_ROWS = "residuals"
    """Rows whose residuals show what a parent does not explain."""

    GRAMS = "grams"
    """Rows and samples of θ of the covariances that kernels expect before any data."""

    LOCAL_ELBO_ROWS = "local ELBOs"
    """Minibatches over which local ELBOs are averaged."""

    LOCAL_ELBO_THETA = "θ of local ELBOs, "
    """Samples of θ over which local ELBOs are averaged, with the number of their group."""

    EARLIER_THETA = "earlier θ"
    """Samples of the θ of an earlier fit."""
