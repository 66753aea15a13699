"""Tests of mean functions as plain values, and back."""

import json

import gpflow
import numpy as np
import pytest
from gpflow.functions import Additive, Constant, Function, Identity, Linear, Polynomial, Product

from vbks.errors import FileError
from vbks.storage.mean_encoding import decode_mean_function, encode_mean_function
from vbks.storage.records import Record

X = np.linspace(-2, 2, 5)[:, np.newaxis]
LINE = Linear([[2.0]], [0.5])
FUNCTIONS = [
    LINE,
    Constant(3.0),
    Identity(),
    gpflow.functions.Zero(),
    Polynomial(2, 1, w=[[1.0, -2.0, 0.5]]),
    Additive(LINE, Product(Constant(2.0), Identity())),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda own: type(own).__name__)
def test_function__comes_back_and_is_held(function: Function) -> None:
    plain = json.loads(json.dumps(encode_mean_function(function)))
    again = decode_mean_function(Record(plain, "here"))
    np.testing.assert_array_equal(again(X), function(X))
    assert not again.trainable_variables


class Own(Linear):
    """What derives from a function may be another one."""


def test_function__of_an_unknown_kind_cannot_be_saved() -> None:
    with pytest.raises(FileError, match="the mean function Own cannot be saved"):
        encode_mean_function(Own([[1.0]], [0.0]))


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"name": "Sine"}, "expected one of"),
        ({"name": "Constant", "c": [1.0, 2.0]}, "other numbers than are expected"),
        ({"name": "Linear", "A": ["nan"], "b": [0.0]}, "other numbers than are expected"),
        ({"name": "Polynomial", "degree": 9, "num_inputs": 1, "w": [1.0]}, "does? not go with|deg"),
        ({"name": "Additive", "parts": [{"name": "Zero"}]}, "has 1 parts, expected 2"),
    ],
)
def test_values__of_no_function_are_refused(plain: dict, message: str) -> None:
    with pytest.raises(FileError, match=message):
        decode_mean_function(Record(plain, "here"))


def test_values__nested_too_deeply_are_refused() -> None:
    plain: dict = {"name": "Zero"}
    for _ in range(30):
        plain = {"name": "Additive", "parts": [plain, {"name": "Zero"}]}
    with pytest.raises(FileError, match="nested too deeply"):
        decode_mean_function(Record(plain, "here"))
