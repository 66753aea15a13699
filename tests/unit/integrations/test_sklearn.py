import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import vbks
from vbks import VBKSRegressor

QUICK = {
    "space": ("SE", "LIN"),
    "inference": "exact",
    "posterior": "point",
    "warps": ("identity",),
    "restarts": 1,
}


def quick(**settings):
    return VBKSRegressor(**{**QUICK, **settings})


def waves(num_rows=24):
    X = np.linspace(0, 6, num_rows)[:, np.newaxis]
    noise = np.random.default_rng(0).normal(0, 0.1, num_rows)
    return X, 10 + np.sin(X[:, 0]) + noise


@pytest.mark.slow
def test_estimator__keeps_the_contract_of_scikit_learn():
    results = check_estimator(quick(space=("SE",)), on_skip=None)
    assert {result["status"] for result in results} == {"passed"}


def test_predict__is_the_mean_and_standard_deviation_of_new_targets():
    X, y = waves()
    model = quick().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    expected_mean, variance = model.selection_.predict_y(X)
    np.testing.assert_array_equal(mean, expected_mean)
    np.testing.assert_array_equal(std, np.sqrt(variance))
    np.testing.assert_array_equal(model.predict(X), mean)
    assert model.score(X, y) > 0.9


def test_fit__is_the_one_of_vbks():
    X, y = waves()
    settings = {**QUICK, "space": ("SE", "LIN"), "posterior": "full"}
    model = VBKSRegressor(**settings, random_state=3).fit(X, y)
    selection = vbks.fit(X, y, **settings, seed=3, progress=False)
    np.testing.assert_array_equal(model.selection_.probabilities, selection.probabilities)
    np.testing.assert_array_equal(model.predict(X), selection.predict_y(X)[0])


def test_random_state__may_be_a_generator():
    X, y = waves()
    one, other = (quick(random_state=np.random.RandomState(5)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_pipeline__scales_and_predicts():
    X, y = waves()
    pipeline = make_pipeline(StandardScaler(), quick()).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), quick().fit(X, y).predict(X), rtol=1e-6)


def test_searches__clone_and_score():
    X, y = waves()
    search = GridSearchCV(
        quick(space=("SE", "LIN")), {"belief": ["bayes", "stacking"]}, cv=2, error_score="raise"
    )
    search.fit(X, y)
    assert search.best_params_["belief"] in ("bayes", "stacking")
    assert search.best_estimator_.selection_.belief_settings.kind == search.best_params_["belief"]
    scores = cross_val_score(clone(search.best_estimator_), X, y, cv=2, error_score="raise")
    assert np.isfinite(scores).all()


def test_table__gives_names_and_wants_them_again():
    X, y = waves()
    table = pd.DataFrame({"time": X[:, 0], "other": np.cos(X[:, 0])})
    model = quick().fit(table, y)
    assert list(model.feature_names_in_) == ["time", "other"]
    assert model.selection_.feature_names == ("time", "other")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["other", "time"]])


def test_dates__become_days():
    _, y = waves()
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=len(y))})
    numbers = np.arange(len(y), dtype=float)[:, np.newaxis]
    by_date, by_number = quick().fit(days, y), quick().fit(numbers, y)
    np.testing.assert_allclose(by_date.predict(days), by_number.predict(numbers), rtol=1e-6)
    np.testing.assert_array_equal(by_date.predict(days), by_date.selection_.predict_y(days)[0])


def test_pickle__predicts_the_same():
    X, y = waves()
    model = quick().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    model.selection_.belief  # noqa: B018  # what was computed before is not in the file
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X, return_std=True), (mean, std))
    assert "mixture" not in again.selection_.__getstate__()


def test_column_of_targets__is_taken_with_a_warning():
    X, y = waves()
    with pytest.warns(DataConversionWarning):
        quick().fit(X, y[:, np.newaxis])


def test_faults__are_errors_of_scikit_learn_or_vbks():
    X, y = waves()
    with pytest.raises(ValueError, match=r"4 sample.*minimum of 5"):
        quick().fit(X[:4], y[:4])
    with pytest.raises(vbks.DataError, match="constant"):
        quick().fit(X, np.ones(len(y)))
    with pytest.raises(vbks.GrammarError, match="unknown family 'RBF'"):
        quick(space=("RBF",)).fit(X, y)


def test_settings__are_all_those_of_fit():
    own = {*inspect.signature(VBKSRegressor).parameters}
    theirs = {*inspect.signature(vbks.fit).parameters}
    assert theirs - own == {"X", "y", "seed", "targets", "noise_variance"}
    assert own - theirs == {"random_state"}
    assert "noise_variance" in inspect.signature(VBKSRegressor.fit).parameters


def test_fit__passes_all_settings_on(monkeypatch):
    seen = {}

    def fit(X, y, **settings):
        seen.update(settings)
        raise vbks.VbksError("seen enough")

    monkeypatch.setattr("vbks.integrations.sklearn.fit", fit)
    X, y = waves()
    model = quick(method="cks", preset="fast", trace=2, temperature=3.0)
    with pytest.raises(vbks.VbksError, match="seen enough"):
        model.fit(X, y, noise_variance=y)
    assert {*seen} == {*inspect.signature(vbks.fit).parameters} - {"X", "y", "targets"}
    assert (seen["method"], seen["preset"], seen["trace"], seen["temperature"]) == (
        *("cks", "fast", 2, 3.0),
    )
    np.testing.assert_array_equal(seen["noise_variance"], y)


def test_quantiles_and_texts__are_those_of_the_selection():
    _, y = waves()
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=len(y)).strftime("%Y-%m-%d")})
    model = quick().fit(days, y)
    quantiles = model.predict_quantiles(days, (0.1, 0.9))
    np.testing.assert_array_equal(quantiles, model.selection_.predict_quantiles(days, (0.1, 0.9)))
    assert quantiles.shape == (len(y), 2)
    assert (quantiles[:, 0] < quantiles[:, 1]).all()
    assert model.predict_quantiles(days, 0.5).shape == (len(y), 1)
