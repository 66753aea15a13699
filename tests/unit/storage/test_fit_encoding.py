"""Tests of fits as plain values and packed arrays, and back."""

import json
from dataclasses import fields
from typing import Any

import gpflow
import numpy as np
import pytest
from support.fits import BOUNDS, make_fit, with_modes

from vbks.data.warps import InverseSoftplus
from vbks.errors import FileError
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.storage.fit_encoding import (
    FIT_ARRAYS,
    InducingInputs,
    decode_fit,
    encode_fit,
    refuse_opaque,
)
from vbks.storage.records import Packing, Record, Unpacking

NAMES = (*FIT_ARRAYS, "inducing")


def plain_of(*fits: LocalFit) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    packing, inducing = Packing(NAMES), InducingInputs()
    values = [encode_fit(fit, inducing, packing) for fit in fits]
    lengths = {"inducing": inducing.pack(packing)}
    return json.loads(json.dumps(values, allow_nan=False)), lengths, packing.arrays()


def back(values: list[dict[str, Any]], lengths: dict[str, Any], arrays: dict) -> list[LocalFit]:
    unpacking = Unpacking(arrays, "here")
    tables = InducingInputs.unpack(Record(lengths, "here"), 1, unpacking)
    found = [decode_fit(Record(own, "fit"), 1, tables, unpacking) for own in values]
    unpacking.finish()
    return found


def flat(value: Any) -> list[Any]:
    """Numbers and texts of a value, one after the other."""
    if isinstance(value, np.ndarray):
        return [value.shape, *value.ravel().tolist()]
    if isinstance(value, tuple | list):
        return [part for own in value for part in flat(own)]
    if hasattr(value, "__dataclass_fields__"):
        return [part for own in fields(value) for part in flat(getattr(value, own.name))]
    return [str(value)]


@pytest.mark.parametrize("bound", BOUNDS)
def test_fits__come_back_with_all_they_have(bound: str) -> None:
    fits = [
        with_modes(make_fit("SE + LIN", bound, spread=0.3), 0.7, 0.3),
        make_fit("PER", bound, warp=InverseSoftplus(2.0), notices=("slow",), upper=3.0),
    ]
    for found, expected in zip(back(*plain_of(*fits)), fits, strict=True):
        assert flat(found) == flat(expected)


def test_inducing_inputs__are_kept_once() -> None:
    fits = [make_fit("SE", "collapsed"), make_fit("PER", "collapsed")]
    _, lengths, arrays = plain_of(*fits)
    assert lengths["inducing"] == [len(fits[0].inducing)]
    assert len(arrays["inducing"]) == fits[0].inducing.size


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expression": "NONE"}, "register_family before the selection is loaded"),
        ({"expression": "RQ"}, "has 3 parameters, expected 4"),
        ({"num_inputs": 2}, "expected the 1 of the data"),
        ({"modes": [], "num_parameters": 0}, "is fitted but has no θ|numbers too many"),
        ({"inducing": 3}, "expected a number below 1"),
        ({"fixed": [7]}, "expected a number below 3"),
        ({"warp": {"name": "cube"}}, "has no warp: no warp is described by"),
        ({"status": "fine"}, "expected one of"),
    ],
)
def test_values__that_do_not_go_together_are_refused(changes: dict, message: str) -> None:
    (values,), lengths, arrays = plain_of(make_fit("SE", "collapsed"))
    with pytest.raises(FileError, match=message):
        back([{**values, **changes}], lengths, arrays)


@pytest.mark.usefixtures("scoped_registries")
def test_kernels__that_only_this_process_knows_are_refused() -> None:
    refuse_opaque(parse("SE + PER"))
    expression = from_gpflow(gpflow.kernels.ArcCosine()).expression
    with pytest.raises(FileError, match="is a GPflow kernel that only this program knows"):
        refuse_opaque(expression)
