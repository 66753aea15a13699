"""Tests of more than two classes: refused in one line, and what that line says to do instead."""

from typing import Any, cast

import gpflow
import numpy as np
import pytest

import vbks
from vbks.errors import DataError
from vbks.selection.selections import Selections

X = np.linspace(0.0, 8.9, 45)
CLASSES = (X // 3).astype(int)


@pytest.mark.parametrize(
    "likelihood",
    [
        "softmax",
        "multiclass",
        "bernoulli",
        gpflow.likelihoods.Softmax(3),
        gpflow.likelihoods.MultiClass(3),
        gpflow.likelihoods.Bernoulli(),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_many_classes__are_refused_in_one_line(likelihood: Any) -> None:
    with pytest.raises(DataError, match="Fit each of C classes against the others") as caught:
        vbks.fit(X, CLASSES, likelihood=likelihood, progress=False)
    assert "\n" not in str(caught.value)


def test_each_class_against_the_rest__gives_probabilities() -> None:
    selections = cast(
        Selections,
        vbks.fit(
            X, np.eye(3)[CLASSES], likelihood="bernoulli", space=["SE"], restarts=1,
            num_inducing=12, posterior="point", progress=False,
        ),
    )  # fmt: skip
    means, _ = selections.predict_y(X)
    assert means.shape == (45, 3)
    assert np.all((means > 0.0) & (means < 1.0))
    shares = means / means.sum(axis=1, keepdims=True)
    right = shares.argmax(axis=1) == CLASSES
    assert right.mean() > 0.9
    inside = np.abs(X % 3 - 1.5) < 0.8
    assert shares.max(axis=1)[inside].min() > 0.6
