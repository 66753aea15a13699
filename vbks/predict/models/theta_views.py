"""Parameters that show q(θ): the mean in place of a parameter's own value, and its spread.

What is in θ is no variable of the kernel any more. So that a kernel still shows its values, its
parameters read the mean of q(θ), whatever it is by then, and assign to it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from gpflow import Parameter

from vbks.predict.models.theta_posterior import ThetaPosterior


class ThetaPart:
    """Some consecutive numbers of θ, in the shape of the parameter that they are of.

    It is no `tf.Module`, so that a parameter that holds one does not count q(θ) as its own.
    """

    def __init__(self, posterior: ThetaPosterior, start: int, shape: tuple[int, ...]) -> None:
        self._posterior, self._shape = posterior, shape
        self._numbers = slice(start, start + int(np.prod(shape)))

    def mean(self) -> tf.Tensor:
        """Their part of μ."""
        mean = tf.convert_to_tensor(self._posterior.mean)
        return tf.reshape(mean[self._numbers], self._shape)

    def sd(self) -> tf.Tensor:
        """Their standard deviations."""
        return tf.reshape(self._posterior.sd[self._numbers], self._shape)

    def assign(self, values: tf.Tensor) -> None:
        """Put numbers into μ."""
        mean = self._posterior.mean.unconstrained_variable
        places = np.arange(self._numbers.start, self._numbers.stop)[:, np.newaxis]
        mean.assign(tf.tensor_scatter_nd_update(mean, places, tf.reshape(values, [-1])))


class _View:
    """What is not the parameter's own variable, and so is not trained."""

    _part: ThetaPart

    @property
    def trainable(self) -> bool:
        """Never: q(θ) is trained."""
        return False

    def _read(self) -> tf.Tensor:
        raise NotImplementedError

    @property
    def _pretransformed_input(self) -> Any:
        """The variable is not read; a tensor that was put in its place is."""
        source = self.__dict__.get("_pretransformed_input")
        if source is None:
            raise AttributeError("_pretransformed_input")
        return self._read() if isinstance(source, tf.Variable) else source

    @_pretransformed_input.setter
    def _pretransformed_input(self, source: Any) -> None:
        self.__dict__["_pretransformed_input"] = source


class _MeanOfTheta(_View):
    """A parameter that reads μ."""

    def _read(self) -> tf.Tensor:
        return self._part.mean()

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Assign a constrained value by changing μ."""
        transform, dtype = self.transform, self.dtype  # type: ignore[attr-defined]
        self._part.assign(transform.inverse(tf.cast(value, dtype)))
        return tf.convert_to_tensor(self)


class SdOfTheta(_View, Parameter):
    """The standard deviations of numbers of θ, which are unconstrained.

    They follow from q(θ): assigning to them does nothing, so that what `gpflow.utilities`
    reads from a model can be assigned to another.
    """

    def __init__(self, part: ThetaPart) -> None:
        self.__dict__["_part"] = part
        super().__init__(part.sd(), trainable=False)

    def _read(self) -> tf.Tensor:
        return self._part.sd()

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Leave everything as it is."""
        return tf.convert_to_tensor(self)


def show_mean(parameter: Parameter, part: ThetaPart) -> None:
    """Let a parameter read the mean of q(θ) and assign to it."""
    parameter.__dict__["_part"] = part
    kind: Any = type(parameter)
    parameter.__class__ = _class_of_view(kind)


def show_own(parameter: Parameter) -> None:
    """Let a parameter read its own variable again."""
    if isinstance(parameter, _MeanOfTheta):
        del parameter.__dict__["_part"]
        parameter.__class__ = type(parameter).__bases__[1]


@cache
def _class_of_view(kind: Any) -> type[Parameter]:
    return type("MeanOfTheta", (_MeanOfTheta, kind), {"__doc__": _MeanOfTheta.__doc__})
