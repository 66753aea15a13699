"""What the function of a selection is made of, and what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vbks.criticism.criticising import LEVEL, NUM_REPLICATES
from vbks.criticism.result import Criticism
from vbks.parts.components import Components
from vbks.selection import criticism_plots
from vbks.selection.components import components_of
from vbks.selection.criticism import criticism_of
from vbks.selection.record import SelectionRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ExplainedSelection(SelectionRecord):
    """A selection that says what its function is made of, and what speaks against it."""

    def components(self, X: Any = None) -> Components:
        """The additive parts of the function, averaged with the belief, most important ones first.

        Each has a posterior at X, or at rows of the data, the probability of being there, and what
        it explains; `components().table` has a row for each. Parts of kernels under different warps
        are apart: under a logarithm they are factors.
        """
        return components_of(self, X)

    def criticism(
        self, *, num_replicates: int = NUM_REPLICATES, level: float = LEVEL, seed: int = 0
    ) -> Criticism:
        """What the data say against the model: checks of residuals, and notices.

        `Criticism.verdict` is one sentence, ``table`` a row for each check: autocorrelation,
        periodogram, trends and steps, outliers, tails and quantiles, noise that changes, the warp,
        rows that repeat others, and a two-sample test. Under the model the verdict speaks against
        it in the share ``level`` of data sets. ``notices`` say what else should not be trusted.
        """
        return criticism_of(self, num_replicates, level, seed)

    def plot_criticism(self, criticism: Criticism | None = None) -> Figure:
        """Residuals over the input, their autocorrelations, periodogram and quantiles."""
        return criticism_plots.plot_criticism(criticism or self.criticism())
