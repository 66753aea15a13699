"""Lines with a location, which GPflow lacks, and positive parameters as logarithms."""

from __future__ import annotations

import tensorflow as tf
from check_shapes import check_shapes, inherit_check_shapes
from gpflow import Parameter
from gpflow.base import TensorType
from gpflow.kernels import Kernel
from gpflow.kernels.base import ActiveDims
from gpflow.utilities import positive


def positive_parameter(value: TensorType) -> Parameter:
    """A positive GPflow parameter whose unconstrained value is its logarithm."""
    return Parameter(value, transform=positive(lower=0.0, base="exp"))


class Linear(Kernel):
    """A line through a location: σ² Σ (x−ℓ)(x'−ℓ), with one location for each input or for all.

    It does not derive from GPflow's ``Linear``, whose expectations under uncertain inputs would
    leave the location out.
    """

    @check_shapes("variance: []", "location: [broadcast n_active_dims]")
    def __init__(
        self,
        variance: TensorType = 1.0,
        location: TensorType = 0.0,
        active_dims: ActiveDims | None = None,
    ) -> None:
        super().__init__(active_dims)
        self.variance = positive_parameter(variance)
        self.location = Parameter(location)
        self._validate_ard_active_dims(self.location)

    @inherit_check_shapes
    def K(self, X: TensorType, X2: TensorType | None = None) -> tf.Tensor:
        """The covariance of the lines at all pairs of inputs."""
        distance = X - self.location
        if X2 is None:
            return self.variance * tf.matmul(distance, distance, transpose_b=True)
        return self.variance * tf.tensordot(distance, X2 - self.location, [[-1], [-1]])

    @inherit_check_shapes
    def K_diag(self, X: TensorType) -> tf.Tensor:
        """The variance of the lines at each input."""
        return self.variance * tf.reduce_sum(tf.square(X - self.location), axis=-1)
