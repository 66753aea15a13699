"""What the function of a selection is made of, what data are like, and what speaks against it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from vbks.criticism.criticising import LEVEL, NUM_REPLICATES
from vbks.criticism.result import Criticism
from vbks.parts.components import Components
from vbks.properties.results import Properties
from vbks.selection import component_data, component_plots, criticism_plots, property_plots
from vbks.selection.components import components_of
from vbks.selection.criticism import criticism_of
from vbks.selection.properties import properties_of_selection
from vbks.selection.record import SelectionRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ExplainedSelection(SelectionRecord):
    """A selection that says what its function is made of, and what can be said against it."""

    def components(self, X: Any = None) -> Components:
        """The additive parts of the function, averaged with the belief, most important ones first.

        Each has a posterior at X, or at rows of the data, the probability of being there, and what
        it explains; `components().table` has a row for each. Parts of kernels under different warps
        are apart: under a logarithm they are factors.
        """
        return components_of(self, X)

    def plot_components(
        self,
        figure: Figure | None = None,
        X: Any = None,
        *,
        num_parts: int = 6,
        warp: str | None = None,
    ) -> Figure:
        """The parts of the function one after the other, the most important first.

        Over one input a row has the part with its 90 % band above what other parts leave of the
        data, the fit so far, and what that leaves. Of several inputs, each part is drawn along its
        own, others being in their middle, with the fit so far against the targets. Parts are those
        under the most probable warp, or another.
        """
        found = component_data.part_pictures(self, X, num_parts, warp)
        return component_plots.plot_components(found, figure)

    def properties(self) -> Properties:
        """What the data are like, with probabilities over kernels and their hyperparameters.

        Whether there is a cycle, and its period; a trend, up or down; swings or noise that grow or
        shrink; a change, and when; which inputs matter, and which act together. Each has a
        ``probability``, a ``sentence`` and, where there is a number, an ``estimate`` and a
        ``density``; ``properties().table`` has a row for each.
        """
        return self._properties

    def plot_properties(self, names: Any = None) -> list[Axes]:
        """A picture of each property: densities of numbers, and probabilities as bars.

        ``names`` are some of "cycle", "trend", "swings", "change", "noise" and "inputs".
        """
        return property_plots.plot_properties(self.properties(), names)

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
        found = criticism or self.criticism()
        is_time = bool(self.time_inputs) and found.order_name != "the table"
        return criticism_plots.plot_criticism(found, is_time)

    @cached_property
    def _properties(self) -> Properties:
        return properties_of_selection(self)
