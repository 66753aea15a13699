"""Kernels that GPflow lacks: families by formula, changes and weighted sums.

Combinations here call their kernels as ``kernel(X, X2)``, so that each looks at its own inputs.
Unconstrained values of positive parameters are logarithms. No parameter carries a prior.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from check_shapes import check_shapes, inherit_check_shapes
from gpflow import Parameter
from gpflow.base import TensorType
from gpflow.kernels import Kernel
from gpflow.kernels.base import ActiveDims, Combination
from gpflow.utilities.ops import broadcasting_elementwise

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.kernels.family import Family
from vbks.kernels.gpflow.linear import positive_parameter


class FamilyKernel(Kernel):
    """A kernel by the formula of a family: σ² times the formula, with the family's parameters.

    Parameters that are not given start at their prior means.
    """

    def __init__(
        self,
        family: Family,
        variance: TensorType = 1.0,
        active_dims: ActiveDims | None = None,
        **parameters: TensorType,
    ) -> None:
        super().__init__(active_dims)
        self.family = family
        self.variance = positive_parameter(variance)
        for parameter in family.parameters:
            if hasattr(self, parameter.name):
                raise GrammarError(
                    f"a kernel of family '{family.name}' has an attribute '{parameter.name}' "
                    "already. Give the parameter another name."
                )
            start = math.exp(parameter.prior.mean) if parameter.positive else parameter.prior.mean
            value = parameters.pop(parameter.name, start)
            make = positive_parameter if parameter.positive else Parameter
            setattr(self, parameter.name, make(value))
            if parameter.per_input:
                self._validate_ard_active_dims(getattr(self, parameter.name))
        if parameters:
            known = ", ".join(parameter.name for parameter in family.parameters) or "none"
            raise GrammarError(
                f"family '{family.name}' has no parameter '{min(parameters)}'. Known: {known}."
            )

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The formula at all pairs of inputs."""
        X = tf.convert_to_tensor(X)
        if X2 is None:
            return self._at(X[..., :, tf.newaxis, :], X[..., tf.newaxis, :, :])
        X2 = tf.convert_to_tensor(X2)
        num_inputs = tf.shape(X)[-1]
        flat = self._at(
            tf.reshape(X, [-1, 1, num_inputs]),
            tf.reshape(X2, [1, -1, num_inputs]),
        )
        return tf.reshape(flat, tf.concat([tf.shape(X)[:-1], tf.shape(X2)[:-1]], axis=0))

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The formula at each input with itself."""
        points = tf.convert_to_tensor(X)[..., tf.newaxis, tf.newaxis, :]
        return self._at(points, points)[..., 0, 0]

    def _at(self, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
        values = {}
        for parameter in self.family.parameters:
            value = getattr(self, parameter.name)
            if parameter.per_input:
                values[parameter.name] = tf.broadcast_to(value, [1, 1, tf.shape(X1)[-1]])
            else:
                values[parameter.name] = tf.reshape(value, [1, 1])
        return self.variance * self.family.formula(X1, X2, **values)


class Scaled(Kernel):
    """σ² times a kernel that has no variance of its own; never merged into a product around it."""

    @check_shapes("variance: []")
    def __init__(
        self, kernel: Kernel, variance: TensorType = 1.0, active_dims: ActiveDims | None = None
    ) -> None:
        super().__init__(active_dims)
        self.kernel = kernel
        self.variance = positive_parameter(variance)

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The scaled kernel at all pairs of inputs."""
        return self.variance * self.kernel(X, X2)

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The scaled kernel at each input with itself."""
        return self.variance * self.kernel(X, full_cov=False)


class InUnits(Kernel):
    """A kernel for standardised inputs x that is another one at m + s x, in its own units."""

    @check_shapes("mean: [D]", "scale: [D]")
    def __init__(self, kernel: Kernel, mean: Array, scale: Array) -> None:
        super().__init__()
        self.kernel, self.mean, self.scale = kernel, mean, scale

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The kernel at all pairs of inputs."""
        return self.kernel(self._restored(X), None if X2 is None else self._restored(X2))

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The kernel at each input with itself."""
        return self.kernel(self._restored(X), full_cov=False)

    def _restored(self, X: TensorType) -> tf.Tensor:
        return tf.convert_to_tensor(X) * self.scale + self.mean


class _Alternatives(Combination):
    """A combination whose operands stay as they are, optionally with weights that add to one."""

    def __init__(
        self, kernels: Sequence[Kernel], weights: TensorType | None, name: str | None
    ) -> None:
        super().__init__(kernels, name=name)
        self.weights = None
        if weights is not None:
            # Appends a zero to the unconstrained values and takes the softmax.
            self.weights = Parameter(weights, transform=tfp.bijectors.SoftmaxCentered())
            if self.weights.shape != (len(self.kernels),):
                raise GrammarError(
                    f"{len(self.kernels)} kernels need as many weights, "
                    f"got weights of shape {tuple(self.weights.shape)}."
                )

    def _set_kernels(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = list(kernels)

    def _shares(self) -> Sequence[tf.Tensor]:
        if self.weights is None:
            return [1.0] * len(self.kernels)
        return tf.unstack(tf.convert_to_tensor(self.weights))  # type: ignore[no-any-return]


class ConvexSum(_Alternatives):
    """Σ wᵢ kᵢ(x, x') with weights that add to one, equal ones unless they are given."""

    @check_shapes("weights: [n_kernels]")
    def __init__(
        self,
        kernels: Sequence[Kernel],
        weights: TensorType | None = None,
        name: str | None = None,
    ) -> None:
        equal = np.full(len(kernels), 1.0 / max(len(kernels), 1))
        super().__init__(kernels, equal if weights is None else weights, name)

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The weighted sum at all pairs of inputs."""
        parts = zip(self._shares(), self.kernels, strict=True)
        return tf.add_n([share * kernel(X, X2) for share, kernel in parts])

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The weighted sum at each input with itself."""
        parts = zip(self._shares(), self.kernels, strict=True)
        return tf.add_n([share * kernel(X, full_cov=False) for share, kernel in parts])


class _Change(_Alternatives):
    """w₁ g₁(x) g₁(x') k₁(x, x') + w₂ g₂(x) g₂(x') k₂(x, x'), with gates g along one column of X."""

    @check_shapes("location: []", "steepness: []", "weights: [2]")
    def __init__(
        self,
        kernels: Sequence[Kernel],
        location: TensorType = 0.0,
        steepness: TensorType = 1.0,
        *,
        column: int = 0,
        weights: TensorType | None = None,
        name: str | None = None,
    ) -> None:
        if len(kernels) != 2:
            raise GrammarError(f"a change is between two kernels, got {len(kernels)}.")
        super().__init__(kernels, weights, name)
        self.column = column
        self.location = Parameter(location)
        self.steepness = positive_parameter(steepness)

    @abstractmethod
    def _gates(self, X: TensorType) -> tuple[tf.Tensor, tf.Tensor]:
        """What multiplies each of the two kernels at X."""

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The gated kernels at all pairs of inputs."""
        gates = self._gates(X)
        if X2 is None:
            masks = [gate[..., :, tf.newaxis] * gate[..., tf.newaxis, :] for gate in gates]
        else:
            pairs = zip(gates, self._gates(X2), strict=True)
            masks = [broadcasting_elementwise(tf.multiply, gate, gate2) for gate, gate2 in pairs]
        parts = zip(self._shares(), masks, self.kernels, strict=True)
        return tf.add_n([share * mask * kernel(X, X2) for share, mask, kernel in parts])

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The gated kernels at each input with itself."""
        parts = zip(self._shares(), self._gates(X), self.kernels, strict=True)
        return tf.add_n(
            [share * gate**2 * kernel(X, full_cov=False) for share, gate, kernel in parts]
        )


class ChangePoint(_Change):
    """One kernel that gives way to another: k₁ (1−σ)(1−σ') + k₂ σσ' with σ = sigmoid(s(x−ℓ)).

    x is one column of X, counted from 0, and the kernels act on inputs of their own. With weights,
    the two kernels are multiplied by numbers that add to one.
    """

    @check_shapes("X: [batch..., D]", "return[0]: [batch...]", "return[1]: [batch...]")
    def _gates(self, X: TensorType) -> tuple[tf.Tensor, tf.Tensor]:
        phase = self.steepness * (X[..., self.column] - self.location)
        return tf.sigmoid(-phase), tf.sigmoid(phase)


class ChangeWindow(_Change):
    """One kernel outside of a window and another inside: k₁ (1−ω)(1−ω') + k₂ ωω'.

    ω = sigmoid(s(x−ℓ+w/2)) sigmoid(s(ℓ+w/2−x)), where x is one column of X, counted from 0. With
    weights, the two kernels are multiplied by numbers that add to one.
    """

    @check_shapes("location: []", "steepness: []", "width: []", "weights: [2]")
    def __init__(
        self,
        kernels: Sequence[Kernel],
        location: TensorType = 0.0,
        steepness: TensorType = 1.0,
        width: TensorType = 1.0,
        *,
        column: int = 0,
        weights: TensorType | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernels, location, steepness, column=column, weights=weights, name=name)
        self.width = positive_parameter(width)

    @check_shapes("X: [batch..., D]", "return[0]: [batch...]", "return[1]: [batch...]")
    def _gates(self, X: TensorType) -> tuple[tf.Tensor, tf.Tensor]:
        distance = X[..., self.column] - self.location
        entered = tf.sigmoid(self.steepness * (0.5 * self.width + distance))
        not_left = tf.sigmoid(self.steepness * (0.5 * self.width - distance))
        inside = entered * not_left
        return 1.0 - inside, inside
