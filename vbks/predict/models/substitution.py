"""Parameters of GPflow objects as one vector, which may be a tensor with gradients.

A `gpflow.Parameter` is its transform of a variable. Here it is made to read a tensor for a while
instead, so that any kernel or likelihood, however it holds and shares its parameters, can be
evaluated at a θ that was computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import gpflow
import numpy as np
import tensorflow as tf
from check_shapes import check_shapes
from gpflow import Parameter
from gpflow.base import TensorType
from gpflow.utilities import parameter_dict


def trainable_parameters(**modules: tf.Module) -> dict[str, Parameter]:
    """Trainable parameters by their paths, each once, even if several modules share it."""
    found: dict[int, tuple[str, Parameter]] = {}
    for name, module in modules.items():
        for path, leaf in parameter_dict(module).items():
            if isinstance(leaf, Parameter) and leaf.trainable:
                found.setdefault(id(leaf), (f".{name}{path}", leaf))
    return dict(found.values())


class ParameterVector:
    """Some parameters seen as one vector θ [H] of their unconstrained numbers.

    It is no `tf.Module`, so that a module can hold one without counting its parameters twice.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._paths = tuple(parameters)
        self._parameters = tuple(parameters.values())
        self._shapes = [tuple(parameter.unconstrained_variable.shape) for parameter in self]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return sum(self._sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The path of each number, with an index where its parameter has several."""
        return tuple(
            path + (str(list(index)) if index else "")
            for path, shape in zip(self._paths, self._shapes, strict=True)
            for index in np.ndindex(*shape)
        )

    @property
    def parts(self) -> Iterator[tuple[str, Parameter, int, tuple[int, ...]]]:
        """Paths and parameters, the place in θ where each begins, and the shapes."""
        starts = np.cumsum([0, *self._sizes[:-1]])
        yield from zip(self._paths, self, map(int, starts), self._shapes, strict=True)

    @check_shapes("return: [H]")
    def read(self) -> tf.Tensor:
        """θ as the variables have it."""
        return tf.concat([tf.reshape(p.unconstrained_variable, [-1]) for p in self], axis=0)

    @check_shapes("theta: [H]")
    def assign(self, theta: TensorType) -> None:
        """Put θ into the variables."""
        for parameter, part in zip(self, self._split(theta), strict=True):
            parameter.unconstrained_variable.assign(part)

    def set_trainable(self, flag: bool) -> None:
        """Let optimisers change the variables, or leave them alone."""
        for parameter in self:
            gpflow.set_trainable(parameter, flag)

    @contextmanager
    def at(self, theta: TensorType) -> Iterator[None]:
        """Evaluate everything that uses the parameters at θ, with gradients that flow to θ.

        Variables keep their values and are read again afterwards, whatever happens in between. Two
        threads must not do this to the same parameters at once.
        """
        before = [parameter.__dict__["_pretransformed_input"] for parameter in self]
        try:
            for parameter, part in zip(self, self._split(theta), strict=True):
                _read_from(parameter, part)
            yield
        finally:
            for parameter, variable in zip(self, before, strict=True):
                _read_from(parameter, variable)

    def _split(self, theta: TensorType) -> list[tf.Tensor]:
        parts = zip(tf.split(theta, self._sizes), self._shapes, strict=True)
        return [tf.reshape(part, shape) for part, shape in parts]


def _read_from(parameter: Parameter, source: tf.Tensor | tf.Variable) -> None:
    # Past the module's own way of assigning, in which TensorFlow keeps a list of what was assigned.
    parameter.__dict__["_pretransformed_input"] = source
