"""vbks chooses Gaussian-process kernels for you and says how sure it is.

The layers, each of which imports only from those before it:

errors      what vbks refuses, in one family
datasets    series that come with the package, and readers of public files
data        rows in the user's units, standardised once
grammar     kernel expressions: texts, structures, spaces, search moves, priors
kernels     formulas, parameters and starts; GPflow kernels; the bank that evaluates many at once
inference   fits of many candidates at once: bounds of their evidence, posteriors of θ
models      GPflow models: with a posterior of θ, and of fitted candidates
cli         the command line

TensorFlow is imported when a name that needs it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vbks.errors import DataError, GrammarError, VbksError
from vbks.grammar import K12, K144, Expression, parse, space
from vbks.version import __version__

if TYPE_CHECKING:
    from vbks import data, datasets, grammar, inference, kernels, models
    from vbks.kernels import Bank, from_gpflow, register_family, to_gpflow

__all__ = [
    "K12",
    "K144",
    "Bank",
    "DataError",
    "Expression",
    "GrammarError",
    "VbksError",
    "__version__",
    "data",
    "datasets",
    "from_gpflow",
    "grammar",
    "inference",
    "kernels",
    "models",
    "parse",
    "register_family",
    "space",
    "to_gpflow",
]

_PACKAGES = ("data", "datasets", "grammar", "inference", "kernels", "models")
_FROM_KERNELS = ("Bank", "from_gpflow", "register_family", "to_gpflow")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"vbks.{name}")
    if name in _FROM_KERNELS:
        return getattr(import_module("vbks.kernels"), name)
    raise AttributeError(f"module 'vbks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
