"""Likelihoods by name: those of vbks, and a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gpflow
import numpy as np

from vbks.arrays import Array
from vbks.errors import DataError, SettingsError
from vbks.inference.likelihoods.description import Description, description_of
from vbks.inference.likelihoods.gpflow_likelihood import GPflowLikelihood
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.likelihoods.scalar_checks import learnable_parameter
from vbks.inference.likelihoods.targets import ONE_AGAINST_THE_REST, Domain, Link


@dataclass(frozen=True)
class NamedLikelihood:
    """A likelihood that a name stands for."""

    make: Callable[[], gpflow.likelihoods.Likelihood | Gaussian]
    """Makes a new one, which is the same each time."""
    kind: type[gpflow.likelihoods.Likelihood]
    """Its class in GPflow."""
    description: Description | None = None
    """Its targets and the function for them; by default what is known of its class."""
    is_saved: bool = True
    """Whether selections are saved with its name, and loaded where the name is registered."""


_NAMED: dict[str, NamedLikelihood] = {
    "bernoulli": NamedLikelihood(gpflow.likelihoods.Bernoulli, gpflow.likelihoods.Bernoulli),
    "beta": NamedLikelihood(gpflow.likelihoods.Beta, gpflow.likelihoods.Beta),
    "exponential": NamedLikelihood(gpflow.likelihoods.Exponential, gpflow.likelihoods.Exponential),
    "gamma": NamedLikelihood(gpflow.likelihoods.Gamma, gpflow.likelihoods.Gamma),
    "gaussian": NamedLikelihood(Gaussian, gpflow.likelihoods.Gaussian),
    "poisson": NamedLikelihood(gpflow.likelihoods.Poisson, gpflow.likelihoods.Poisson),
    "student_t": NamedLikelihood(gpflow.likelihoods.StudentT, gpflow.likelihoods.StudentT),
}

_MANY_FUNCTIONS = ("multiclass", "softmax")
"""Names that stand for no likelihood, as vbks has one function."""

_GAUSSIAN = (gpflow.likelihoods.Gaussian, gpflow.likelihoods.GaussianMC)
"""Exact types of Gaussian likelihoods: classes that derive from them may have another density."""


def register_likelihood(
    name: str,
    factory: Callable[[], gpflow.likelihoods.Likelihood],
    *,
    targets: Domain | Callable[[Any], Domain] | None = None,
    means: Callable[[Any, Array], Array] | None = None,
    link: Link | None = None,
    is_saved: bool = True,
) -> None:
    """Have `vbks.fit(likelihood=name)` stand for a scalar likelihood of GPflow from now on.

    Args:
        name: what it is called in `vbks.fit` and in saved selections.
        factory: makes the likelihood, the same each time. Its first positive trainable parameter is
            learned for every candidate.
        targets: the targets that it takes, or a function of the likelihood that gives them; others
            are refused. By default those of its class, and of an unknown class all numbers.
        means: of the likelihood and targets [n], means for which these stand.
        link: the function at which targets have given means; by default that of its ``invlink``.
            Fits begin where link and means say, and without both at the targets themselves.
        is_saved: whether selections are saved with the name; loading needs the same registration.
    """
    if not isinstance(name, str) or not name:
        raise SettingsError(f"{name!r} cannot name a likelihood. Give a text, such as 'cauchy'.")
    if name in _NAMED or name in _MANY_FUNCTIONS:
        raise SettingsError(f"the likelihood {name!r} exists already. Choose another name.")
    made = factory()
    if not isinstance(made, gpflow.likelihoods.Likelihood):
        raise SettingsError(
            f"the factory of likelihood {name!r} makes a {type(made).__name__}. It has to make a "
            "likelihood of GPflow."
        )
    known = description_of(made)
    description = Description(
        known.targets if targets is None else targets,
        known.means if means is None else means,
        known.link if link is None else link,
    )
    _from_gpflow(made, description)
    _NAMED[name] = NamedLikelihood(factory, type(made), description, is_saved)


def likelihood_names() -> tuple[str, ...]:
    """Names of all likelihoods, those of vbks first."""
    return tuple(_NAMED)


def names_of(likelihood: Likelihood) -> tuple[str, ...]:
    """Names of likelihoods of the same class, one of which may be this one."""
    return tuple(name for name, known in _NAMED.items() if known.kind.__name__ == likelihood.name)


def is_saved(name: str) -> bool:
    """Whether selections are saved with a name."""
    return _NAMED[name].is_saved


def make_likelihood(likelihood: str | gpflow.likelihoods.Likelihood | Likelihood) -> Likelihood:
    """The likelihood that a text or an object of GPflow stands for; one of ours stays as it is."""
    match likelihood:
        case Gaussian() | GPflowLikelihood():
            return likelihood
        case str() if likelihood in _NAMED:
            known = _NAMED[likelihood]
            made = known.make()
            return made if isinstance(made, Gaussian) else _from_gpflow(made, known.description)
        case gpflow.likelihoods.MultiClass() | gpflow.likelihoods.Softmax():
            raise DataError(_many_classes(type(likelihood).__name__))
        case str() if likelihood in _MANY_FUNCTIONS:
            raise DataError(_many_classes(likelihood))
        case gpflow.likelihoods.Likelihood():
            return _from_gpflow(likelihood)
    raise DataError(
        f"Unknown likelihood {likelihood!r}. Known: {', '.join(sorted(_NAMED))}, "
        "or a likelihood of GPflow."
    )


def _many_classes(name: str) -> str:
    return (
        f"{name} has a function for each class, and vbks chooses kernels for one. "
        f"{ONE_AGAINST_THE_REST}"
    )


def _from_gpflow(
    likelihood: gpflow.likelihoods.Likelihood, description: Description | None = None
) -> Likelihood:
    """Ours for a Gaussian whose variance is learned, a wrapper for all others."""
    if type(likelihood) in _GAUSSIAN and learnable_parameter(likelihood) is not None:
        return Gaussian(likelihood.variance_at(np.zeros((1, 1))).numpy().item())
    return GPflowLikelihood(likelihood, description=description)
