"""Log evidences of GPflow models that were trained elsewhere, and the data they are of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import tensorflow as tf
from gpflow.models import GPModel
from gpflow.models.training_mixins import ExternalDataTrainingLossMixin

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.approximations.base_samples import base_samples
from vbks.predict.models.substitution import trainable_parameters
from vbks.predict.models.variational_svgp import VariationalSVGP

Rows: TypeAlias = tuple[Array, Array]
"""Inputs [N, D] and targets [N, P]."""

Correction: TypeAlias = Literal["none", "bic"]
"""What is taken off the likelihood of a point estimate: nothing, or ½ p log N."""

NUM_SAMPLES = 64
"""The bound of a `VariationalSVGP` is averaged over this many samples of θ, the same each time."""


def common_data(models: Sequence[GPModel], names: Sequence[str], data: Any) -> Rows | None:
    """The rows that all models were trained on, if any of them, or the user, has some."""
    own = [(name, _own_rows(model)) for name, model in zip(names, models, strict=True)]
    given = [] if data is None else [("data", _as_rows(data))]
    known = [(name, rows) for name, rows in [*given, *own] if rows is not None]
    for name, rows in known[1:]:
        first, expected = known[0]
        if not all(np.array_equal(a, b) for a, b in zip(rows, expected, strict=True)):
            raise DataError(
                f"'{name}' was trained on other data than '{first}': {_shapes(rows)} and "
                f"{_shapes(expected)}, or other values. Evidences can be compared for the same "
                "rows only; train all models on them."
            )
    return known[0][1] if known else None


def log_evidence(model: GPModel, rows: Rows | None, correction: Correction = "none") -> float:
    """What a model says of the rows by its own objective, priors of parameters left out.

    That is the likelihood of exact models and a bound of others; with "bic" it is corrected for
    what is a point estimate.
    """
    is_external = isinstance(model, ExternalDataTrainingLossMixin)
    if not is_external:
        value = float(model.maximum_log_likelihood_objective())
    elif rows is None:
        raise DataError(
            f"a {type(model).__name__} does not keep its data. Give data=(X, Y), all rows that it "
            "was trained on, or log_evidences=."
        )
    else:
        _refuse_other_size(model, len(rows[0]))
        value = _bound(model, rows)
    return value - _penalty(model, rows) if correction == "bic" else value


def _bound(model: GPModel, rows: Rows) -> float:
    if isinstance(model, VariationalSVGP):
        eta = base_samples(NUM_SAMPLES, model.num_sampled, 0)
        return float(tf.function(model.elbo, autograph=False)(rows, eta))
    return float(model.maximum_log_likelihood_objective(rows))


def _refuse_other_size(model: Any, num_rows: int) -> None:
    num_data = getattr(model, "num_data", None)
    if num_data is not None and int(num_data) != num_rows:
        raise DataError(
            f"a {type(model).__name__} has num_data={int(num_data)}, but data has {num_rows} rows. "
            "Give all rows that it was trained on."
        )


def _penalty(model: GPModel, rows: Rows | None) -> float:
    if isinstance(model, VariationalSVGP) and not model.q_theta.is_point:
        return 0.0
    if rows is None:
        raise DataError("correction='bic' needs the number of rows. Give data=(X, Y).")
    return 0.5 * num_free(model) * math.log(len(rows[0]))


def num_free(model: GPModel) -> int:
    """How many numbers of kernel, likelihood and mean function are trained."""
    if isinstance(model, VariationalSVGP):
        return len(model.theta_names)
    parts = {"kernel": model.kernel, "likelihood": model.likelihood, "mean": model.mean_function}
    found = trainable_parameters(**parts).values()
    return sum(int(np.prod(parameter.unconstrained_variable.shape)) for parameter in found)


def _own_rows(model: GPModel) -> Rows | None:
    data = getattr(model, "data", None)
    return None if data is None else _as_rows(data)


def _as_rows(data: Any) -> Rows:
    if not (isinstance(data, Sequence) and len(data) == 2):
        raise DataError("data is expected as a pair of inputs [N, D] and targets [N, P].")
    X, Y = (np.asarray(tf.convert_to_tensor(values), np.float64) for values in data)
    X, Y = (values[:, np.newaxis] if values.ndim == 1 else values for values in (X, Y))
    if len(X) != len(Y):
        raise DataError(f"data has {len(X)} rows of inputs and {len(Y)} of targets.")
    return X, Y


def _shapes(rows: Rows) -> str:
    return " and ".join(str(list(values.shape)) for values in rows)
