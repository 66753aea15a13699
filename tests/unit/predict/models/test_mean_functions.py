"""Tests of mean functions, against GPflow and against targets that have them taken off."""

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.functions import (
    Additive,
    Constant,
    Function,
    Identity,
    Linear,
    Polynomial,
    Product,
    Zero,
)
from matplotlib.figure import Figure
from support import rows

import vbks
from vbks.errors import DataError, FileError, SettingsError, VbksError
from vbks.predict.models.mean_functions import make_mean_function, mean_values
from vbks.selection.selection import Selection
from vbks.storage.mean_encoding import decode_mean_function, encode_mean_function
from vbks.storage.records import Record

SETTINGS: dict[str, Any] = {
    "space": ["SE", "LIN"], "warps": ["identity"], "restarts": 2, "prune": False, "progress": False
}  # fmt: skip


class Bend(gpflow.functions.MeanFunction):  # type: ignore[misc]
    """A function that vbks does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.size = gpflow.Parameter(50.0)

    def __call__(self, X: Any) -> tf.Tensor:
        return self.size * tf.exp(X[..., :1] / 1000.0)


make_rows = partial(
    rows.make_rows,
    seed=3,
    signal=lambda x: 70.0 + 4.0 * (x - 1000.0) + 2.0 * np.sin(2.0 * x),
    ends=(1000.0, 1008.0),
    noise=0.3,
)


def held(function: Function) -> Function:
    gpflow.set_trainable(function, False)
    return function


@pytest.fixture(scope="module")
def line() -> Function:
    return held(Linear([[4.0]], [-3930.0]))


@pytest.fixture(scope="module")
def selection(line: Function) -> Selection:
    return vbks.fit(*make_rows(), mean_function=line, **SETTINGS)


@pytest.fixture(scope="module")
def plain(line: Function) -> Selection:
    x, y = make_rows()
    return vbks.fit(x, y - mean_values(line, x[:, None]), **SETTINGS)


def test_predictions__are_those_of_what_is_left_and_the_function(
    selection: Selection, plain: Selection
) -> None:
    xnew = np.linspace(999.0, 1012.0, 9)
    mean = 4.0 * xnew - 3930.0
    np.testing.assert_array_equal(selection.probabilities, plain.probabilities)
    np.testing.assert_array_equal(selection.weights, plain.weights)
    for name in ("predict_f", "predict_y"):
        (found, variance), (left, spread) = (getattr(own, name)(xnew) for own in (selection, plain))
        np.testing.assert_allclose(found, left + mean, rtol=1e-12)
        np.testing.assert_array_equal(variance, spread)
    np.testing.assert_allclose(
        selection.predict_quantiles(xnew), plain.predict_quantiles(xnew) + mean[:, None], rtol=1e-12
    )
    np.testing.assert_allclose(
        selection.predict_log_density((xnew, mean + 1.0)),
        plain.predict_log_density((xnew, np.ones(9))),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        selection.predict_f_samples(xnew, 3), plain.predict_f_samples(xnew, 3) + mean, rtol=1e-12
    )
    np.testing.assert_allclose(
        selection.mixture.predict_y_samples(xnew)[:, 0],
        plain.mixture.predict_y_samples(xnew)[:, 0] + mean,
        rtol=1e-12,
    )
    means, _ = selection.mixture.member_predictions(xnew)
    np.testing.assert_allclose(means, plain.mixture.member_predictions(xnew)[0] + mean)


@pytest.mark.parametrize("inference", ["exact", "collapsed", "stochastic"])
def test_model__is_a_gpflow_model_around_the_function(line: Function, inference: str) -> None:
    x, y = make_rows()
    selection = vbks.fit(
        x, y, mean_function=line, **{**SETTINGS, "space": ["SE"]}, posterior="point",
        inference=inference, num_inducing=20,
    )  # fmt: skip
    model, units = selection.model(), selection.units
    assert model.mean_function.function is selection.mean_function
    assert not model.mean_function.trainable_variables
    xnew = np.linspace(999.0, 1012.0, 9)
    moments = model.predict_y(units.standardise_inputs(xnew[:, None]))
    found = units.restore_moments(*(values.numpy()[:, 0] for values in moments))
    for values, expected in zip(found, selection.predict_y(xnew), strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-8)
    if inference == "exact":
        value = model.log_marginal_likelihood().numpy()
        assert value == pytest.approx(selection.best.modes[0].log_likelihood, abs=1e-6)


def test_model__of_gpflow_alone_says_the_same(line: Function) -> None:
    """GPR in the user's units with the same mean function, which knows nothing of ours."""
    x, y = make_rows()
    selection = vbks.fit(
        x, y, mean_function=line, **{**SETTINGS, "space": ["SE"]}, posterior="point"
    )
    theta, units = selection.best.theta, selection.units
    variance, lengthscale = np.exp(theta[1:])
    kernel = gpflow.kernels.RBF(variance * units.y_scale**2, lengthscale * units.x_scale[0])
    noise = (np.exp(theta[0]) + selection.best.jitter) * units.y_scale**2
    mean = line + Constant(units.y_mean)
    gpr = gpflow.models.GPR((x[:, None], y[:, None]), kernel, mean, noise)
    xnew = np.linspace(999.0, 1012.0, 9)
    for found, expected in zip(
        selection.predict_f(xnew), gpr.predict_f(xnew[:, None]), strict=True
    ):
        np.testing.assert_allclose(found, expected.numpy()[:, 0], rtol=1e-7)


def test_linear__is_the_line_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(2e4, 10.0, 50), rng.normal(size=50), np.ones(50)])
    y = 3.0 * X[:, 0] - 2.0 * X[:, 1] + 5.0 + rng.normal(size=50)
    line = make_mean_function("linear", X, y)
    expected, *_ = np.linalg.lstsq(
        np.column_stack([X[:, :2] - X[:, :2].mean(axis=0), np.ones(50)]), y, rcond=None
    )
    np.testing.assert_allclose(line.A.numpy()[:2, 0], expected[:2], rtol=1e-9)
    assert line.A.numpy()[2, 0] == 0.0
    np.testing.assert_allclose(mean_values(line, X).mean(), y.mean(), rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [lambda: Linear(), lambda: Constant() + Linear(), lambda: Polynomial(2), lambda: Bend()],
    ids=["linear", "sum", "polynomial", "own"],
)
def test_trainable_function__is_fitted_by_least_squares_and_then_held(make: Any) -> None:
    x, y = make_rows()
    x = x - 1000.0
    given = make()
    before = [variable.numpy() for variable in given.trainable_variables]
    found = make_mean_function(given, x[:, None], y)
    for variable, value in zip(given.trainable_variables, before, strict=True):
        np.testing.assert_array_equal(variable, value)
    assert not found.trainable_variables
    basis = {
        "Bend": lambda: np.exp(x / 1000.0)[:, None],
        "Polynomial": lambda: np.stack([x**0, x, x**2], axis=1),
    }.get(type(given).__name__, lambda: np.stack([x**0, x], axis=1))()
    expected = basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
    np.testing.assert_allclose(mean_values(found, x[:, None]), expected, rtol=1e-7)


def test_noisy_rows__count_less_for_the_line() -> None:
    x, y = make_rows()
    spoiled = y.copy()
    spoiled[5] += 1e6
    noise = np.where(np.arange(len(y)) == 5, 1e14, 0.0)
    with_row, without = (
        mean_values(make_mean_function("linear", *rows), x[:, None])
        for rows in (
            (x[:, None], spoiled, noise),
            (np.delete(x, 5)[:, None], np.delete(y, 5), np.zeros(len(y) - 1)),
        )
    )
    np.testing.assert_allclose(with_row, without, rtol=1e-4)


def test_forecast__goes_on_along_the_line() -> None:
    x, y = make_rows()
    settings = {**SETTINGS, "space": ["PER"]}
    around = vbks.fit(x, y, mean_function="linear", **settings)
    mean, _ = around.predict_f(np.array([1030.0]))
    assert mean[0] == pytest.approx(70.0 + 4.0 * 30.0, abs=6.0)


def test_known_noise__goes_with_a_mean_function(line: Function) -> None:
    x, y = make_rows()
    noise = np.linspace(0.01, 1.0, len(x))
    settings = {**SETTINGS, "space": ["SE"]}
    found = vbks.fit(x, y, mean_function=line, noise_variance=noise, **settings)
    left = vbks.fit(x, y - mean_values(line, x[:, None]), noise_variance=noise, **settings)
    mean, variance = found.predict_y(x, noise_variance=noise)
    expected = left.predict_y(x, noise_variance=noise)
    np.testing.assert_allclose(mean, expected[0] + 4.0 * x - 3930.0)
    np.testing.assert_allclose(variance, expected[1])


def test_saved_and_pickled_selection__predicts_the_same(
    selection: Selection, tmp_path: Path
) -> None:
    selection.save(tmp_path / "kept")
    x, _ = make_rows()
    for again in (vbks.load(tmp_path / "kept"), pickle.loads(pickle.dumps(selection))):
        for found, expected in zip(again.predict_y(x), selection.predict_y(x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_exported_selection__predicts_the_same(selection: Selection, tmp_path: Path) -> None:
    selection.export(tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served"))
    x, y = make_rows()
    mean, variance = selection.predict_y(x)
    found = served.predict_y(x[:, None])
    np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(found["variance"][:, 0], variance, rtol=1e-9)
    density = served.predict_log_density(x[:, None], y[:, None])["log_density"]
    np.testing.assert_allclose(density, selection.predict_log_density((x, y)), atol=1e-8)


def test_update__takes_the_function_off_new_rows(line: Function) -> None:
    x, y = make_rows(40)
    settings = {**SETTINGS, "space": ["SE"], "posterior": "point"}
    found = vbks.fit(x[:30], y[:30], mean_function=line, **settings).update(x[30:], y[30:])
    left = y - mean_values(line, x[:, None])
    expected = vbks.fit(x[:30], left[:30], **settings).update(x[30:], left[30:])
    np.testing.assert_allclose(
        found.predict_f(x)[0], expected.predict_f(x)[0] + 4.0 * x - 3930.0, rtol=1e-9
    )


def test_plot__shows_targets_as_they_were_given(selection: Selection) -> None:
    ax = selection.plot_prediction(Figure().subplots())
    _, y = make_rows()
    drawn = [line.get_ydata() for line in ax.lines] + [
        points.get_offsets()[:, 1] for points in ax.collections
    ]
    assert any(
        len(values) == len(y) and np.allclose(np.sort(values), np.sort(y)) for values in drawn
    )


@pytest.mark.parametrize(
    "function",
    [
        Zero(), Constant([3.0]), Linear([[2.0], [1.0]], [3.0]),
        Polynomial(2, 2, w=np.arange(6.0)[None]), Constant([2.0]) + Linear([[2.0], [1.0]]),
        Product(Constant([2.0]), Polynomial(1, 2)), Additive(Zero(), Zero()),
    ],
    ids=lambda function: type(function).__name__,
)  # fmt: skip
def test_encoding__comes_back(function: Function) -> None:
    again = decode_mean_function(Record.of(encode_mean_function(function), "the mean"))
    X = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(again(X), function(X))
    assert type(again) is type(function)
    assert not again.trainable_variables


@pytest.mark.parametrize(
    "values",
    [
        {"name": "Linear", "A": [], "b": [0.0]},
        {"name": "Linear", "A": [1.0], "b": ["nan"]},
        {"name": "Other"},
        {"name": "Additive", "parts": [{"name": "Zero"}]},
        {"name": "Polynomial", "degree": 3, "num_inputs": 1, "w": [1.0]},
        {"name": "Polynomial", "degree": 2, "num_inputs": 1, "w": [1.0, 2.0]},
    ],
)
def test_encoding__that_was_changed_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="damaged"):
        decode_mean_function(Record.of(values, "the mean"))


def test_save__refuses_a_function_that_it_does_not_know(tmp_path: Path) -> None:
    selection = vbks.fit(*make_rows(), mean_function=Bend(), **{**SETTINGS, "space": ["SE"]})
    with pytest.raises(FileError, match="the mean function Bend cannot be saved"):
        selection.save(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


class Many(gpflow.functions.MeanFunction):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.w = gpflow.Parameter(np.zeros((1, 300)))

    def __call__(self, X: Any) -> tf.Tensor:
        return tf.reduce_sum(X @ self.w, axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mean_function": "quadratic"}, "mean_function is 'quadratic', expected 'linear' or"),
        ({"mean_function": Linear}, "expected 'linear' or"),
        ({"mean_function": np.sin}, "expected 'linear' or"),
        ({"mean_function": Many()}, "300 trainable parameters, and at most 200"),
        ({"mean_function": Linear(np.ones((2, 1)))}, "cannot be evaluated at 1 rows of 1 inputs"),
        ({"mean_function": Linear(np.ones((1, 2)))}, r"shape \[1, 2\] at 1 rows of 1 inputs"),
        ({"mean_function": "linear", "likelihood": "poisson"}, "goes with Gaussian noise"),
        ({"mean_function": "linear", "warps": ["log"]}, "which goes with no warp"),
        ({"mean_function": "linear", "preset": "paper"}, "no part of the VBKS paper"),
        ({"mean_function": held(Identity()), "y": "x"}, "explains all targets"),
    ],
)
def test_fit__refuses_in_one_line(settings: dict[str, Any], message: str) -> None:
    x, y = make_rows()
    y = x + 1e-13 if settings.pop("y", "") == "x" else np.round(y)
    with pytest.raises((DataError, SettingsError), match=message) as caught:
        vbks.fit(x, y, **{**SETTINGS, **settings})
    assert "\n" not in str(caught.value)


def test_fit__refuses_a_mean_function_of_a_dataset() -> None:
    x, y = make_rows()
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    with pytest.raises(VbksError, match="not as a dataset"):
        vbks.fit(dataset, mean_function="linear", **SETTINGS)
