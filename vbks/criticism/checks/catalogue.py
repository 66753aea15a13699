"""All checks, in the order in which they are told."""

from __future__ import annotations

from vbks.criticism.checks.check import Check
from vbks.criticism.checks.order import measure_autocorrelation, measure_neighbours
from vbks.criticism.checks.regressors import (
    measure_cycle,
    measure_outlier,
    measure_step,
    measure_trend,
)
from vbks.criticism.checks.repeats import measure_repeats
from vbks.criticism.checks.shape import measure_coverage, measure_quantiles, measure_tails
from vbks.criticism.checks.spread import measure_spread, measure_warp
from vbks.criticism.checks.two_sample import measure_two_sample

CHECKS = (
    Check(
        "autocorrelation",
        "residuals of neighbouring rows are unrelated",
        measure_autocorrelation,
    ),
    Check("periodogram", "no cycle is left in the residuals", measure_cycle),
    Check("trend", "no trend is left in the residuals", measure_trend),
    Check("step", "no step is left in the residuals", measure_step),
    Check("neighbours", "residuals of rows with similar inputs are unrelated", measure_neighbours),
    Check("outlier", "no row lies far from what all others predict", measure_outlier),
    Check("tails", "no more residuals are large than expected", measure_tails),
    Check(
        "quantiles", "residuals have the quantiles of the normal distribution", measure_quantiles
    ),
    Check("spread", "the noise is the same along the inputs, as the model says", measure_spread),
    Check("warp", "the noise does not depend on the level of the target", measure_warp),
    Check("repeats", "no rows repeat others", measure_repeats),
    Check("two-sample", "data and draws from the model cannot be told apart", measure_two_sample),
    Check("coverage", "intervals hold the rows that they should hold", measure_coverage),
)
"""Those that cannot be asked of some rows leave them out."""
