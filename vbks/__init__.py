"""vbks chooses Gaussian-process kernels for you and says how sure it is.

The layers, each of which imports only from those before it:

errors      what vbks refuses, in one family
datasets    series that come with the package, and readers of public files
data        rows in the user's units, standardised once
grammar     kernel expressions: texts, structures, spaces, search moves, priors
words       parts of kernels as readings and sentences
kernels     formulas, parameters and starts; GPflow kernels; the bank that evaluates many at once
inference   fits of many candidates at once: bounds of their evidence, posteriors of θ
predict     averaged predictions, and fitted candidates as GPflow models
parts       additive parts of kernels, and the values that q(θ) gives them
properties  what data are like, with probabilities: cycles, trends, changes, inputs
storage     fits in files, written whole or not at all
execution   where candidates are fitted: devices, Ray, a folder that keeps finished work
weights     beliefs over what was fitted, and weights of predictions
search      searches that propose candidates, and the budget they keep to
selection   what a user holds after a fit: candidates, belief, predictions, pictures, files
report      what a selection says, as one page for people and as JSON
policies    numbers that trade time for quality
config      every setting of a fit, in one value
api         the one call, `vbks.fit`
backtesting  forecasts of the past, beside baselines
planning    what that call would do on many devices
comparing   methods beside each other
integrations  scikit-learn, TensorBoard
ui          the command line

TensorFlow is imported when a name that needs it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vbks.errors import DataError, FileError, GrammarError, SettingsError, VbksError
from vbks.grammar import K12, K144, Expression, parse, space
from vbks.version import __version__

if TYPE_CHECKING:
    from vbks import (
        backtesting,
        data,
        datasets,
        execution,
        grammar,
        inference,
        integrations,
        kernels,
        predict,
        search,
        selection,
        weights,
    )
    from vbks.api import fit
    from vbks.backtesting import backtest
    from vbks.comparing import compare
    from vbks.inference.paper import PaperSettings
    from vbks.integrations.sklearn import VBKSRegressor
    from vbks.kernels import Bank, from_gpflow, register_family, to_gpflow
    from vbks.planning import dry_run
    from vbks.policies import Policies
    from vbks.search import Budget
    from vbks.selection import Selection, Selections
    from vbks.selection.loading import load
    from vbks.selection.model_average import average
    from vbks.weights import BeliefSettings

__all__ = [
    "K12",
    "K144",
    "Bank",
    "BeliefSettings",
    "Budget",
    "DataError",
    "Expression",
    "FileError",
    "GrammarError",
    "PaperSettings",
    "Policies",
    "Selection",
    "Selections",
    "SettingsError",
    "VBKSRegressor",
    "VbksError",
    "__version__",
    "average",
    "backtest",
    "backtesting",
    "compare",
    "data",
    "datasets",
    "dry_run",
    "execution",
    "fit",
    "from_gpflow",
    "grammar",
    "inference",
    "integrations",
    "kernels",
    "load",
    "parse",
    "predict",
    "register_family",
    "search",
    "selection",
    "space",
    "to_gpflow",
    "weights",
]

_PACKAGES = (
    "backtesting",
    "data",
    "datasets",
    "execution",
    "grammar",
    "inference",
    "integrations",
    "kernels",
    "predict",
    "search",
    "selection",
    "weights",
)

_HOMES = {
    "Bank": "kernels",
    "BeliefSettings": "weights",
    "Budget": "search",
    "PaperSettings": "inference.paper",
    "Policies": "policies",
    "Selection": "selection",
    "Selections": "selection",
    "VBKSRegressor": "integrations",
    "average": "selection.model_average",
    "backtest": "backtesting",
    "compare": "comparing",
    "dry_run": "planning",
    "fit": "api",
    "from_gpflow": "kernels",
    "load": "selection.loading",
    "register_family": "kernels",
    "to_gpflow": "kernels",
}
"""Where the names are that are imported when they are first used."""


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"vbks.{name}")
    if name in _HOMES:
        return getattr(import_module(f"vbks.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'vbks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
