"""Tests of families in files: what has to be registered before one is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from support.registries import registries_restored
from support.rows import make_rows

import vbks
from vbks.kernels import NormalPrior, Parameter
from vbks.storage.family_encoding import check_families, encode_families
from vbks.storage.records import Record

SCALE = Parameter("scale", NormalPrior(0.0, 1.0), per_input=True, role="lengthscale")


def cauchy(X1: tf.Tensor, X2: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return 1.0 / (1.0 + tf.reduce_sum(tf.square((X1 - X2) / scale), axis=-1))


def register(parameter: Parameter = SCALE, stationary: bool = True) -> None:
    vbks.register_family("CAUCHY", cauchy, [parameter], stationary=stationary, replace=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A selection with a family that is registered only while it is made."""
    path = tmp_path_factory.mktemp("saved") / "selection"
    with registries_restored():
        register()
        selection = vbks.fit(
            *make_rows(), space=["CAUCHY", "SE"], warps=("identity",), restarts=2, progress=False
        )
        selection.save(path)
    return path


pytestmark = pytest.mark.usefixtures("scoped_registries")


def test_own_family__is_loaded_where_it_is_registered_as_it_was(folder: Path) -> None:
    register()
    loaded = vbks.load(folder)
    assert "CAUCHY" in set(loaded.belief["expression"].astype(str))
    assert np.isfinite(loaded.predict_y(np.linspace(0.0, 12.0, 5))[0]).all()


def test_own_family__that_is_not_registered_is_named_with_the_call(folder: Path) -> None:
    call = (
        r"vbks\.register_family\('CAUCHY', formula, \[Parameter\('scale', NormalPrior\(0\.0, 1\.0\)"
        r", per_input=True\)\], stationary=True\)"
    )
    with pytest.raises(vbks.FileError, match=rf"'CAUCHY', which is not registered\. Call {call}"):
        vbks.load(folder)


@pytest.mark.parametrize(
    ("parameter", "stationary"),
    [
        (Parameter("scale", NormalPrior(0.5, 1.0), per_input=True), True),
        (Parameter("scale", NormalPrior(0.0, 2.0), per_input=True), True),
        (SCALE, False),
    ],
)
def test_own_family__of_other_parameters_is_refused(
    folder: Path, parameter: Parameter, stationary: bool
) -> None:
    register(parameter, stationary)
    with pytest.raises(vbks.FileError, match=r"another family 'CAUCHY' .* Call vbks\.register_"):
        vbks.load(folder)


def test_encode_families__has_those_of_the_user_once() -> None:
    register()
    expressions = [vbks.parse(text) for text in ("CAUCHY * SE", "CAUCHY + CAUCHY", "LIN")]
    plain = encode_families(expressions)
    assert [family["name"] for family in plain["families"]] == ["CAUCHY"]
    check_families(Record.of(plain, "the file"))
    assert encode_families([vbks.parse("SE + LIN")]) == {"families": []}


def test_check_families__refuses_what_is_no_family() -> None:
    families = [{"name": "A", "stationary": True, "parameters": 3}]
    with pytest.raises(vbks.FileError, match="'parameters' of family 1 of the file"):
        check_families(Record.of({"families": families}, "the file"))
