from __future__ import annotations

import errno
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from support.fits import make_data, make_fit, make_logs, new_inputs, with_modes

import vbks
from vbks.data.warps import Identity, Log
from vbks.errors import DataError, FileError
from vbks.inference.result import LocalFit
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out
from vbks.predict.mixture import KernelMixture
from vbks.selection.selection import Selection

XNEW = new_inputs(9)
YNEW = np.linspace(1.0, 6.0, 9)[:, np.newaxis]

LOADED = """
import sys
sys.modules.update(vbks=None, gpflow=None, tensorflow_probability=None)  # as if not installed
import numpy as np, tensorflow as tf
folder, rows = sys.argv[1:]
model, given = tf.saved_model.load(folder), np.load(rows)
served = model.signatures["serving_default"](tf.constant(given["X"]))
answers = {
    **model.predict_f(given["X"]),
    **{f"{name}_y": answer for name, answer in served.items()},
    **model.predict_log_density(given["X"], given["Y"]),
}
np.savez(rows, **{name: answer.numpy() for name, answer in answers.items()})
"""


@cache
def make_selection() -> Selection:
    fits = (
        make_fit("SE", spread=0.2, elbo=-40.0),
        with_modes(make_fit("PER + WN * LIN", elbo=-40.2, spread=0.1), 0.7, 0.3),
        make_fit("SE", spread=0.1, elbo=-40.4, warp=Log()),
        make_fit("RQ", elbo=-90.0, status="dropped", reason="50 nats behind"),
    )
    return Selection(fits, {Identity(): make_data(), Log(): make_logs()})


@pytest.fixture(scope="module")
def exported(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("served") / "model"
    make_selection().export(folder)
    return folder


def assert_same(model: Any, mixture: Any) -> None:
    for name in ("predict_f", "predict_y"):
        mean, variance = getattr(mixture, name)(XNEW)
        found = getattr(model, name)(XNEW)
        np.testing.assert_allclose(found["mean"][:, 0], np.ravel(mean), rtol=1e-10)
        np.testing.assert_allclose(found["variance"][:, 0], np.ravel(variance), rtol=1e-10)
    found = model.predict_log_density(XNEW, YNEW)["log_density"]
    expected = mixture.predict_log_density((XNEW, YNEW))
    np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-10)


# What comes out


def test_export__says_the_same_where_there_is_no_vbks(exported: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.npz"
    np.savez(rows, X=XNEW, Y=YNEW)
    command = [sys.executable, "-I", "-c", LOADED, str(exported), str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers, selection = np.load(rows), make_selection()
    expected = {
        **dict(zip(("mean", "variance"), selection.predict_f(XNEW), strict=True)),
        **dict(zip(("mean_y", "variance_y"), selection.predict_y(XNEW), strict=True)),
        "log_density": selection.predict_log_density((XNEW, YNEW)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(np.ravel(answers[name]), values, rtol=1e-10)


def test_export__has_signatures_in_the_users_units(exported: Path) -> None:
    model = tf.saved_model.load(str(exported))
    assert set(model.signatures) == {
        "predict_f", "predict_log_density", "predict_y", "serving_default"
    }  # fmt: skip
    for name in ("predict_f", "predict_y", "serving_default"):
        signature = model.signatures[name]
        ((name, Xnew),) = signature.structured_input_signature[1].items()
        assert (name, Xnew.shape.as_list(), Xnew.dtype) == ("Xnew", [None, 1], tf.float64)
        shapes = {key: out.shape.as_list() for key, out in signature.structured_outputs.items()}
        assert shapes == {"mean": [None, 1], "variance": [None, 1]}


def test_export__of_a_candidate_is_averaged_over_its_posterior(tmp_path: Path) -> None:
    selection = make_selection()
    selection.export(tmp_path / "model", expression="SE", warp="log")
    mixture = KernelMixture(selection.fits[2:3], [1.0], selection.data)
    assert_same(tf.saved_model.load(str(tmp_path / "model")), mixture)


def test_export__of_a_loaded_selection_is_the_same(tmp_path: Path) -> None:
    data = make_data()
    fit = make_fit("SE + LIN", "collapsed", spread=0.1, elbo=-40.0)
    selection = Selection((fit,), {Identity(): data})
    selection.save(tmp_path / "saved")
    vbks.load(tmp_path / "saved").export(tmp_path / "model")
    assert_same(tf.saved_model.load(str(tmp_path / "model")), selection)


def opaque_fit(kernel: gpflow.kernels.Kernel) -> LocalFit:
    expression = from_gpflow(kernel).expression
    H = len(lay_out(expression))
    fit = make_fit("SE", elbo=-40.0)
    mode = replace(fit.modes[0], mean=np.full(H, -0.3), factor=0.1 * np.eye(H))
    return replace(fit, expression=expression, modes=(mode,), posterior="full", num_free=H)


@pytest.mark.usefixtures("scoped_registries")
def test_export__takes_kernels_that_no_expression_describes(tmp_path: Path) -> None:
    polynomial = gpflow.kernels.Polynomial(2)
    gpflow.set_trainable(polynomial.offset, False)
    data = {Identity(): make_data()}
    mixture = Selection((opaque_fit(polynomial),), data)
    mixture.export(tmp_path / "model")
    assert_same(tf.saved_model.load(str(tmp_path / "model")), mixture)


# What is refused


class Calling(gpflow.kernels.Linear):
    """A kernel that calls Python."""

    def K(self, X: Any, X2: Any = None) -> Any:
        return tf.numpy_function(lambda K: 1.0 * K, [super().K(X, X2)], tf.float64)


@pytest.mark.usefixtures("scoped_registries")
def test_export__refuses_kernels_that_call_python(tmp_path: Path) -> None:
    selection = Selection((opaque_fit(Calling()),), {Identity(): make_data()})
    with pytest.raises(FileError, match=r"calls Python, which a SavedModel cannot do. Write the"):
        selection.export(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_export__refuses_candidates_that_are_not_there(tmp_path: Path) -> None:
    selection = make_selection()
    with pytest.raises(DataError, match=r"'PER' was not tried. `belief` lists the 4 candidates"):
        selection.export(tmp_path / "model", "PER")
    with pytest.raises(DataError, match=r"'RQ' cannot be exported, .*: dropped, 50 nats behind"):
        selection.export(tmp_path / "model", "RQ")
    assert not list(tmp_path.iterdir())


def test_export__refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(FileError, match=r"holds 'mine', which would be lost. Give the path of a"):
        make_selection().export(tmp_path)
    with pytest.raises(FileError, match=r"mine' is not a folder. Give the path of a new folder"):
        make_selection().export(tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# All or nothing


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "no space"), FileError),
        (tf.errors.ResourceExhaustedError(None, None, "no space"), FileError),
        (KeyboardInterrupt("no space"), KeyboardInterrupt),
    ],
)
def test_export__leaves_all_as_it_was_if_writing_fails(
    error: BaseException, expected: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    def fail(module: Any, folder: str, *rest: Any) -> None:
        (Path(folder) / "half").write_text("half")
        raise error

    monkeypatch.setattr(tf.saved_model, "save", fail)
    (tmp_path / "empty").mkdir()
    selection = Selection((make_fit("SE"),), {Identity(): make_data()})
    for name in ("empty", "new"):
        with pytest.raises(expected, match="no space"):
            selection.export(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_export__fills_an_empty_folder_and_makes_those_above(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    selection = Selection((make_fit("SE"),), {Identity(): make_data()})
    for folder in (tmp_path / "empty", tmp_path / "a" / "b"):
        selection.export(str(folder))
        assert (folder / "saved_model.pb").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "empty"}
