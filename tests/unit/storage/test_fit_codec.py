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
from vbks.storage.codec import Sizes
from vbks.storage.fit_codec import FITS, refuse_opaque
from vbks.storage.records import Packing, Record, Unpacking


def plain_of(*fits: LocalFit) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    packing = Packing(FITS.array_names)
    values = [FITS.encode(fit, packing) for fit in fits]
    return json.loads(json.dumps(values, allow_nan=False)), packing.arrays()


def back(values: list[dict[str, Any]], arrays: dict[str, Any]) -> list[LocalFit]:
    unpacking, sizes = Unpacking(arrays, "here"), Sizes()
    sizes.bind("D", (1,), "inputs")
    found = [FITS.decode(LocalFit, Record(own, "fit"), unpacking, outer=sizes) for own in values]
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
    values, arrays = plain_of(*fits)
    assert [own["inducing"] for own in values] == [[*fits[0].inducing.shape], 0]
    assert len(arrays["inducing"]) == fits[0].inducing.size


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expression": "NONE"}, "register_family before the selection is loaded"),
        ({"expression": "RQ"}, "has 3 parameters, expected 4"),
        ({"num_inputs": 2}, "expected D = 1"),
        ({"modes": []}, "is fitted but has no θ"),
        ({"inducing": 3}, "expected a number below 0"),
        ({"fixed": [7]}, "holds parameter 7 of 3"),
        ({"warp": {"name": "cube"}}, "is no warp: no warp is described by"),
        ({"status": "fine"}, "expected one of"),
    ],
)
def test_values__that_do_not_go_together_are_refused(changes: dict, message: str) -> None:
    (values,), arrays = plain_of(make_fit("SE", "collapsed"))
    with pytest.raises(FileError, match=message):
        back([{**values, **changes}], arrays)


@pytest.mark.usefixtures("scoped_registries")
def test_kernels__that_only_this_process_knows_are_refused() -> None:
    refuse_opaque(parse("SE + PER"))
    expression = from_gpflow(gpflow.kernels.ArcCosine()).expression
    with pytest.raises(FileError, match="is a GPflow kernel that only this program knows"):
        refuse_opaque(expression)
