"""What the function of a selection is made of, and what its data are like."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from vbks.parts.components import Components
from vbks.properties.results import Properties
from vbks.selection import property_plots
from vbks.selection.components import components_of
from vbks.selection.properties import properties_of_selection
from vbks.selection.record import SelectionRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ExplainedSelection(SelectionRecord):
    """A selection that says what its function is made of, and what its data are like."""

    def components(self, X: Any = None) -> Components:
        """The additive parts of the function, averaged with the belief, most important ones first.

        Each has a posterior at X, or at rows of the data, the probability of being there, and what
        it explains; `components().table` has a row for each. Parts of kernels under different warps
        are apart: under a logarithm they are factors.
        """
        return components_of(self, X)

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

    @cached_property
    def _properties(self) -> Properties:
        return properties_of_selection(self)
