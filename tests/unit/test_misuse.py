"""Wrong calls of Python: every one is an error of vbks in one clear line, before any fit."""

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated

import vbks

X = np.arange(20.0)
Y = np.sin(X) + 0.1 * X
DATES = pd.date_range("2020-01-01", periods=20)

ROWS = [
    ((X, None), "expected a pair"),
    ((None, None), "expected a pair"),
    ((X, Y[:-1]), "X has 20 rows and y has 19"),
    (([], []), "there are no rows to learn from"),
    ((X[:2], Y[:2]), "there are only 2 rows"),
    ((1.0, 2.0), "has 0 dimensions"),
    (("abc", "abc"), "X is of type 'str'"),
    (({"a": X}, Y), "X is of type 'dict'"),
    ((len, Y), "X is of type 'builtin_function_or_method'"),
    ((np.zeros((20, 2, 2)), Y), "X is of type 'ndarray' and has 3 dimensions"),
    ((X, np.zeros((20, 2, 2))), "y is of type 'ndarray' and has 3 dimensions"),
    ((np.zeros((20, 0)), Y), "X has no columns"),
    ((X, np.zeros((20, 0))), "y has no columns"),
    (([[1, 2], [3]] * 10, Y), "X cannot be read as an array"),
    ((X + 1j, Y), "input 1 is of type 'complex128'"),
    ((X, Y + 1j), "the target is of type 'complex128'"),
    ((["a"] * 20, Y), "input 1 is of type 'object', expected numbers: row 1 has 'a'"),
    ((X, ["a"] * 20), "the target is of type 'object'"),
    ((X, [{}] * 20), "the target is of type 'object'"),
    ((X, DATES), "the target is of type 'datetime64"),
    ((np.where(X == 3, np.nan, X), Y), "input 1 has 1 missing value, in row 4"),
    ((X, np.where(X == 3, np.nan, Y)), "the target has 1 missing value, in row 4"),
    ((X, np.where(X == 3, np.inf, Y)), "the target has 1 infinite value, in row 4"),
    ((X, np.ma.masked_array(Y, X > 17)), "the target has 2 missing values"),
    ((X, np.ones(20)), "the target is constant"),
    ((X, Y * 1e300), "the target has 19 huge values"),
    ((X, pd.Series(["q"] * 20, name="load")), "the target 'load' is of type 'object'"),
]
"""Inputs and targets that no fit can use."""

SETTINGS = [
    ({"budget": 0}, "the budget has 0.0 seconds"),
    ({"budget": -1}, "the budget has -1.0 seconds"),
    ({"budget": np.nan}, "the budget has nan seconds"),
    ({"budget": "10"}, "budget is '10', expected seconds"),
    ({"budget": True}, "budget is True, expected seconds"),
    ({"method": "magic"}, "method is 'magic', expected one of vbks"),
    ({"method": 3}, "method is 3, expected one of vbks"),
    ({"method": None}, "method is None, expected one of vbks"),
    ({"space": 3}, "space is 3, expected 'grow' or a list"),
    ({"space": None}, "space is None, expected 'grow' or a list"),
    ({"space": []}, "the space is empty"),
    ({"space": [3]}, "expected a text or an Expression, got 3"),
    ({"space": ["SE +"]}, "expected a kernel after '+'"),
    ({"space": ["SE[4]"]}, "'SE[4]' uses input 4, but the number of inputs is 1"),
    ({"space": "K13"}, "unknown family 'K13' in 'K13'"),
    ({"families": ["magic"], "space": "grow"}, "unknown family 'magic'"),
    ({"families": []}, "there are no families to search in"),
    ({"families": 3}, "families is 3, expected a name or a list"),
    ({"likelihood": "cauchy"}, "nknown likelihood 'cauchy'"),
    ({"likelihood": None}, "nknown likelihood None"),
    ({"likelihood": "poisson"}, "Poisson takes whole numbers"),
    ({"likelihood": "bernoulli"}, "Bernoulli takes 0 or 1"),
    ({"likelihood": "beta"}, "Beta takes numbers between 0 and 1"),
    ({"warps": ("root",)}, "unknown warp 'root'"),
    ({"warps": 3}, "warps is 3, expected a name or a list"),
    ({"warps": []}, "there are no warps to compare"),
    ({"warps": "log"}, "the warp 'log' needs targets above 0"),
    ({"warps": "logit"}, "Give target_range=(low, high)"),
    ({"target_range": (1, 0)}, "target_range is (1, 0), expected two numbers"),
    ({"target_range": 3}, "target_range is 3, expected two numbers"),
    ({"target_range": "ab"}, "target_range is 'ab', expected two numbers"),
    ({"noise_variance": [1.0]}, "noise_variance has the shape [1], expected [20]"),
    ({"noise_variance": -np.ones(20)}, "20 values that are no variances"),
    ({"noise_variance": "a"}, "noise_variance cannot be read as numbers"),
    ({"mean_function": "cubic"}, "mean_function is 'cubic', expected 'linear'"),
    ({"belief": "strong"}, "belief is 'strong', expected one of"),
    ({"weights": 3}, "weights is 3, expected one of"),
    ({"prior": "magic"}, "prior is 'magic', expected one of"),
    ({"prior": {}}, "a prior needs at least one expression"),
    ({"temperature": 0}, "temperature is 0, expected a number above 0"),
    ({"temperature": "hot"}, "temperature is 'hot', expected a number above 0"),
    ({"preset": "huge"}, "preset is 'huge', expected one of"),
    ({"preset": "fast", "budget": 3}, "Leave out one of the two"),
    ({"restarts": 0}, "restarts is 0, expected a whole number from 1 on"),
    ({"restarts": 1.5}, "restarts is 1.5, expected a whole number from 1 on"),
    ({"num_inducing": "many"}, "num_inducing is 'many', expected a whole number from 1 on"),
    ({"batch_size": 0}, "batch_size is 0, expected a whole number from 1 on"),
    ({"prune": "no"}, "prune is 'no', expected True or False"),
    ({"trace": -1}, "trace is -1, expected a whole number from 0 on"),
    ({"callback": print}, "a callback goes with preset='paper'"),
    ({"policies": {"slack": 1}}, "expected vbks.Policies(...)"),
    ({"memory_limit": "1GB"}, "memory_limit is '1GB', expected bytes"),
    ({"memory_limit": 10}, "memory limit of 10 bytes is too small"),
    ({"executor": "ray"}, "Write executor=vbks.execution.Ray()"),
    ({"checkpoint": 3}, "checkpoint is 3, expected a path"),
    ({"seed": -1}, "seed is -1, expected a whole number from 0 on"),
    ({"seed": 1.5}, "seed is 1.5, expected a whole number from 0 on"),
    ({"seed": None}, "seed is None, expected a whole number from 0 on"),
    ({"progress": "yes"}, "progress is 'yes', expected True, False or a"),
    ({"inference": "vague"}, "inference is 'vague', expected one of"),
    ({"posterior": "vague"}, "posterior is 'vague', expected one of"),
    ({"targets": "both"}, "targets is 'both', expected one of"),
]
"""Settings of `vbks.fit` that cannot be."""

LATER = [
    (lambda own: own.predict_y([1.0, 2.0]), "has numbers, but had times"),
    (lambda own: own.predict_y(pd.DataFrame({"day": DATES})), "day"),
    (lambda own: own.predict_y(None), "NoneType"),
    (lambda own: own.predict_y("2020"), "str"),
    (lambda own: own.predict_y(np.zeros((2, 2, 2))), "3 dimensions"),
    (lambda own: own.predict_quantiles(DATES, (2,)), "quantiles are (2,), expected numbers"),
    (lambda own: own.predict_quantiles(DATES, "a"), "quantiles are ('a',), expected numbers"),
    (lambda own: own.predict_quantiles(DATES, ()), "quantiles are (), expected numbers"),
    (lambda own: own.forecast(0), "periods is 0, expected a whole number"),
    (lambda own: own.forecast(1.5), "periods is 1.5, expected a whole number"),
    (lambda own: own.forecast(None), "periods is None, expected a whole number"),
    (lambda own: own.forecast(3, freq="never"), "freq is 'never', expected a step of dates"),
    (lambda own: own.forecast(3, levels=(2,)), "a level is 2, expected a share"),
    (lambda own: own.forecast(3, levels="a"), "a level is 'a', expected a share"),
    (lambda own: own.forecast(3, levels=()), "levels are empty"),
    (lambda own: own.simulate(0), "periods is 0, expected a whole number"),
    (lambda own: own.leaderboard(3), "Give them as (X, y)"),
    (lambda own: own.fit_of("PER * LIN * OU"), "was not tried"),
    (lambda own: own.save(3), "is 3, expected a path"),
    (lambda own: own.report("page.pdf"), "does not end in"),
    (lambda own: own.report(3), "is 3, expected a path"),
    (lambda own: vbks.load(3), "is 3, expected a path"),
    (lambda own: vbks.load("none"), "there is no folder 'none'"),
    (lambda own: vbks.compare(X, Y, ["magic"]), "'magic' is no method"),
    (lambda own: vbks.compare(X, Y, []), "there is no method to compare"),
    (lambda own: vbks.compare(X, Y, ["cks"], test_share=2), "expected between 0 and 1"),
    (lambda own: vbks.backtest(X, Y, horizon=0), "horizon is 0, expected a whole number"),
    (lambda own: vbks.backtest(X, Y, horizon="a"), "horizon is 'a', expected a whole number"),
    (lambda own: vbks.backtest(X, Y, folds=0), "folds is 0, expected a whole number"),
    (lambda own: vbks.backtest(X, Y, season=0), "season is 0"),
    (lambda own: vbks.backtest(X, Y, baselines=["magic"]), "'magic'"),
    (lambda own: vbks.backtest(X, Y[:3]), "X has 20 rows and y has 3"),
    (lambda own: vbks.Budget(seconds="a"), "the budget has 'a' seconds"),
    (lambda own: vbks.Budget(candidates=0), "the budget has 0 candidates"),
    (lambda own: vbks.parse(None), "expected a text or an Expression"),
    (lambda own: vbks.parse(""), "expected a kernel"),
    (lambda own: vbks.space(level=-1), "at least 1, got -1"),
    (lambda own: vbks.to_gpflow(3), "expected a text or an Expression"),
    (lambda own: vbks.from_gpflow(3), "a GPflow kernel is needed"),
    (lambda own: vbks.Bank([]), "at least one expression"),
    (lambda own: vbks.average([]), "no models to average"),
    (lambda own: vbks.dry_run(X, Y, num_devices=0), "0 devices"),
]
"""Calls of what a fit gives, and of everything else."""


@pytest.fixture(autouse=True)
def _nothing_is_fitted(monkeypatch, tmp_path):
    monkeypatch.setattr("vbks.inference.pipeline.Pipeline.fit", pytest.fail)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def dated():
    """A selection of 40 months, which was made by hand."""
    return make_dated()


def refused(call, message):
    """Check that a call is refused in one line."""
    with pytest.raises(vbks.VbksError) as caught:
        call()
    text = str(caught.value)
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize(("rows", "message"), ROWS)
def test_rows_that_cannot_be_used__are_refused(rows, message):
    refused(lambda: vbks.fit(*rows, space=["SE"], progress=False), message)


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_settings_that_cannot_be__are_refused(settings, message):
    usual = {"space": ["SE"], "progress": False}
    refused(lambda: vbks.fit(X, Y - 1.0, **usual | settings), message)


@pytest.mark.parametrize(("call", "message"), LATER)
def test_other_wrong_calls__are_refused(dated, call, message):
    refused(lambda: call(dated), message)


def test_calls__are_more_than_sixty():
    assert len(ROWS) + len(SETTINGS) + len(LATER) > 120
