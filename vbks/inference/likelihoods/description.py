"""What GPflow does not say of a likelihood: its targets, and where the function is for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gpflow
import numpy as np

from vbks.arrays import Array
from vbks.inference.likelihoods.targets import (
    CLASSES,
    COUNTS,
    POSITIVE_NUMBERS,
    SHARES,
    Domain,
    Link,
    link_of,
)

HALF_COUNT = 0.5
"""Half a count is added to all before their logarithm is taken, so that it is finite for none."""


@dataclass(frozen=True)
class Description:
    """The targets of a likelihood and the function that they stand for, where fits begin.

    Functions that depend on its settings are given the GPflow likelihood. Without a link and
    without means, targets themselves are about where the function is.
    """

    targets: Domain | Callable[[Any], Domain] | None = None
    """The targets that it takes, if these are not all numbers."""
    means: Callable[[Any, Array], Array] | None = None
    """Means for which targets [n] stand, to be given to the link."""
    link: Link | None = None
    """The function at which targets have given means: by default that of ``invlink``."""

    def domain(self, likelihood: gpflow.likelihoods.Likelihood) -> Domain | None:
        """The targets that a likelihood takes; None where any number may be one."""
        if self.targets is None or isinstance(self.targets, Domain):
            return self.targets
        return self.targets(likelihood)

    def functions(self, likelihood: gpflow.likelihoods.Likelihood, y: Array) -> Array:
        """About where the function is for targets [n]; these themselves if no link is known."""
        link = self.link
        if link is None and self.means is not None:
            link = link_of(getattr(likelihood, "invlink", None))
        if link is None:
            return y
        return link(y if self.means is None else self.means(likelihood, y))


def description_of(likelihood: gpflow.likelihoods.Likelihood) -> Description:
    """What is known of likelihoods of a class of GPflow, or of one that it derives from."""
    classes = type(likelihood).__mro__
    return next((_OF_CLASS[own] for own in classes if own in _OF_CLASS), Description())


def _on_either_side(classes: Array) -> Array:
    return np.where(classes > 0, 1.0, -1.0)


def _targets_themselves(likelihood: Any, y: Array) -> Array:
    return y


def _rates(likelihood: gpflow.likelihoods.Poisson, y: Array) -> Array:
    return np.asarray((y + HALF_COUNT) / likelihood.binsize)


def _scales(likelihood: gpflow.likelihoods.Gamma, y: Array) -> Array:
    return np.asarray(y / likelihood.shape.numpy())


def _labels(likelihood: gpflow.likelihoods.Ordinal) -> Domain:
    labels = np.arange(likelihood.num_bins)
    words = f"whole numbers from 0 to {labels[-1]}"
    return Domain(lambda y: np.isin(y, labels), words, "Number the classes so.")


_OF_CLASS: dict[type, Description] = {
    gpflow.likelihoods.Bernoulli: Description(CLASSES, link=_on_either_side),
    gpflow.likelihoods.Beta: Description(SHARES, _targets_themselves),
    gpflow.likelihoods.Exponential: Description(POSITIVE_NUMBERS, _targets_themselves),
    gpflow.likelihoods.Gamma: Description(POSITIVE_NUMBERS, _scales),
    gpflow.likelihoods.Ordinal: Description(_labels),
    gpflow.likelihoods.Poisson: Description(COUNTS, _rates),
}
