"""Tests of several targets: a selection each, and one belief for all of them."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import vbks
from vbks.errors import DataError, FileError, GrammarError, SettingsError
from vbks.selection.selections import Selections

SPACE = ("SE", "LIN", "LIN + PER")
SETTINGS: dict[str, Any] = {
    "space": SPACE, "warps": ["identity"], "posterior": "point", "restarts": 2, "prune": False,
    "progress": False,
}  # fmt: skip


def make_table(num: int = 30) -> pd.DataFrame:
    """A line and a wave, which alone show nothing of each other."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 8.0, num)
    wave = 0.5 * x + np.sin(2 * np.pi * x / 1.3)
    noise = 0.1 * rng.normal(size=(2, num))
    return pd.DataFrame({"x": x, "line": 100 + 7 * x + 3 * noise[0], "wave": wave + noise[1]})


def fit(table: pd.DataFrame, **settings: Any) -> Selections:
    given = {**SETTINGS, **settings}
    return cast(Selections, vbks.fit(table[["x"]], table[["line", "wave"]], **given))


@pytest.fixture(scope="module")
def separate() -> Selections:
    return fit(make_table())


@pytest.fixture(scope="module")
def shared() -> Selections:
    return fit(make_table(), targets="shared")


def test_fit__is_one_of_each_column(separate: Selections) -> None:
    table = make_table()
    assert isinstance(separate, Selections)
    assert list(separate) == ["line", "wave"] == list(separate.names)
    x = np.linspace(-1.0, 10.0, 7)
    new, targets = pd.DataFrame({"x": x}), np.array([[100.0, 1.0]] * 7)
    means, variances = separate.predict_y(new)
    densities = separate.predict_log_density((new, targets))
    quantiles = separate.predict_quantiles(new, (0.1, 0.9))
    covariances = separate.predict_f(new, full_cov=True)[1]
    assert quantiles.shape == (7, 2, 2)
    assert separate.predict_f_samples(new, 3).shape == (3, 7, 2)
    for place, name in enumerate(separate.names):
        alone = vbks.fit(table[["x"]], table[name], **SETTINGS)
        np.testing.assert_array_equal(separate[name].probabilities, alone.probabilities)
        mean, variance = alone.predict_y(new)
        np.testing.assert_array_equal(means[:, place], mean)
        np.testing.assert_array_equal(variances[:, place], variance)
        expected = alone.predict_log_density((new, targets[:, place]))
        np.testing.assert_array_equal(densities[:, place], expected)
        np.testing.assert_array_equal(quantiles[:, place], alone.predict_quantiles(new, (0.1, 0.9)))
        np.testing.assert_array_equal(covariances[place], alone.predict_f(new, full_cov=True)[1])
    assert {str(kernel) for kernel in separate.best.values()} == {"LIN", "LIN + PER"}
    assert set(separate.belief["target"]) == {"line", "wave"}


def test_shared_belief__adds_up_evidences(shared: Selections, separate: Selections) -> None:
    evidences = np.array(
        [
            [separate[name].fit_of(kernel).log_evidence() for name in separate]
            for kernel in shared.shared_candidates
        ]
    )
    np.testing.assert_allclose(shared.log_evidences, evidences)
    totals = evidences.sum(axis=1)
    expected = np.exp(totals - totals.max())
    expected /= expected.sum()
    np.testing.assert_allclose(shared.shared_belief.probabilities, expected, atol=1e-12)
    table = shared.belief
    assert table["expression"][0] == "LIN + PER"
    assert table["probability"].sum() == pytest.approx(1.0)
    assert {str(kernel) for kernel in shared.best.values()} == {"LIN + PER"}


def test_shared_belief__is_what_predictions_are_averaged_with(shared: Selections) -> None:
    x = np.linspace(0.0, 10.0, 5)
    means, _ = shared.predict_f(x)
    by_kernel = dict(zip(shared.shared_candidates, shared.shared_belief.probabilities, strict=True))
    for place, name in enumerate(shared):
        own = shared[name]
        weights = [by_kernel[str(fit.expression)] for fit in own.fits]
        np.testing.assert_allclose(own.weights, weights, atol=1e-12)
        mixture = own.mixture_of(own.fits, weights)
        np.testing.assert_allclose(means[:, place], mixture.predict_f(x[:, None])[0][:, 0])
    line = shared.model()["line"]
    assert line.kernel.submodules


def test_shared_belief__is_over_what_grew_for_any_target() -> None:
    settings = {"space": "grow", "budget": vbks.Budget(candidates=4), "families": ("SE", "LIN")}
    grown = fit(make_table(20), targets="shared", **settings)
    assert {"SE", "LIN"} <= set(grown.shared_candidates)
    assert [len(own.fits) for own in grown.values()] == [len(grown.shared_candidates)] * 2
    assert grown.shared_belief.probabilities.sum() == pytest.approx(1.0)


def test_arrays__have_columns_by_number() -> None:
    table = make_table()
    Y = table[["line", "wave"]].to_numpy()
    settings = {**SETTINGS, "space": ["LIN"]}
    for given in (Y, Y.tolist()):
        found = cast(Selections, vbks.fit(table["x"].to_numpy(), given, **settings))
        assert found.names == ("1", "2")
    one = vbks.fit(table["x"].to_numpy(), Y[:, :1], **settings)
    assert isinstance(one, vbks.Selection)


def test_noise_and_means__are_of_each_target() -> None:
    table = make_table()
    noise = np.stack([np.full(30, 0.09), np.linspace(0.01, 0.1, 30)], axis=1)
    found = fit(table, noise_variance=noise, mean_function=["linear", None], space=["SE"])
    for place, (name, mean) in enumerate(zip(found, ("linear", None), strict=True)):
        alone = vbks.fit(
            table[["x"]], table[name], noise_variance=noise[:, place], mean_function=mean,
            **{**SETTINGS, "space": ["SE"]},
        )  # fmt: skip
        np.testing.assert_array_equal(
            found.predict_y(table[["x"]], noise_variance=noise)[1][:, place],
            alone.predict_y(table[["x"]], noise_variance=noise[:, place])[1],
        )
        np.testing.assert_array_equal(
            found.predict_y(table[["x"]])[0][:, place], alone.predict_y(table[["x"]])[0]
        )


@pytest.mark.parametrize("name", ["separate", "shared"])
def test_saved_selections__come_back(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    selections: Selections = request.getfixturevalue(name)
    for _ in range(2):
        selections.save(tmp_path / "kept")
    again = cast(Selections, vbks.load(tmp_path / "kept"))
    assert isinstance(again, Selections)
    assert (again.names, again.shared) == (selections.names, selections.shared)
    x = np.linspace(0.0, 9.0, 5)
    for found, expected in zip(again.predict_y(x), selections.predict_y(x), strict=True):
        np.testing.assert_array_equal(found, expected)
    pd.testing.assert_frame_equal(again.belief, selections.belief)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("kept")
    with pytest.raises(FileError, match=r"holds 'mine.txt'"):
        selections.save(tmp_path / "other")


def test_load__refuses_names_that_were_changed(separate: Selections, tmp_path: Path) -> None:
    separate.save(tmp_path / "kept")
    names = tmp_path / "kept" / "targets.json"
    names.write_text(names.read_text().replace('"wave"', '"line"'))
    with pytest.raises(FileError, match="one of them twice"):
        vbks.load(tmp_path / "kept")
    names.write_text("{}")
    with pytest.raises(FileError, match="not of saved selections"):
        vbks.load(tmp_path / "kept")


def test_update__is_that_of_each(shared: Selections) -> None:
    new = pd.DataFrame({"x": [8.2, 8.6], "line": [157.4, 160.2], "wave": [4.8, 3.7]})
    updated = shared.update(new[["x"]], new[["line", "wave"]])
    alone = shared["wave"].update(new[["x"]], new["wave"])
    assert updated.shared
    np.testing.assert_array_equal(
        updated["wave"].fit_of("LIN + PER").theta, alone.fit_of("LIN + PER").theta
    )
    assert updated.shared_belief.probabilities.sum() == pytest.approx(1.0)


def test_with_belief__is_that_of_each(separate: Selections) -> None:
    flat = separate.with_belief(temperature=100.0)
    assert all(flat[name].probabilities.max() < separate[name].probabilities.max() for name in flat)


def test_checkpoint__has_a_part_for_each(tmp_path: Path) -> None:
    table, settings = make_table(20), {"space": ["LIN"], "checkpoint": tmp_path / "kept"}
    first, second = (fit(table, **settings) for _ in range(2))
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"target-1", "target-2"}
    for name in first:
        np.testing.assert_array_equal(first[name].best.theta, second[name].best.theta)


def broken(column: str) -> pd.DataFrame:
    table = make_table()
    table.loc[3, column] = np.nan
    return table


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (broken("wave"), {}, "target 'wave': .* has 1 missing value, in row 4"),
        (
            make_table(),
            {"targets": "joint"},
            "targets is 'joint', expected one of separate, shared",
        ),
        (make_table(), {"targets": "shared", "method": "cks"}, "goes with method='vbks'"),
        (make_table(), {"targets": "shared", "warps": ["log"]}, "goes with no warp"),
        (make_table(), {"targets": "shared", "weights": "stacking"}, "Leave out stacking"),
        (make_table(), {"mean_function": ["linear"]}, "1 mean functions for 2 targets"),
        (make_table(), {"noise_variance": np.ones((30, 3))}, "has 3 columns, expected"),
    ],
)
def test_fit__refuses_in_one_line(
    table: pd.DataFrame, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((DataError, SettingsError), match=message) as caught:
        fit(table, **{"space": ["LIN"], **settings})
    assert "\n" not in str(caught.value)


def test_fit__refuses_two_columns_of_one_name() -> None:
    table = make_table()
    Y = pd.concat([table["line"], table["line"]], axis=1)
    with pytest.raises(DataError, match="two columns of the name 'line'"):
        vbks.fit(table[["x"]], Y, **SETTINGS)


def test_error_of_the_space__is_that_of_all_targets() -> None:
    with pytest.raises(GrammarError, match="unknown family"):
        fit(make_table(), space=["NOPE"])


def test_predictions__refuse_other_columns(separate: Selections) -> None:
    with pytest.raises(DataError, match="Y has 3 columns, expected 2"):
        separate.predict_log_density((np.ones(2), np.ones((2, 3))))
    with pytest.raises(KeyError, match="there is no target 'z', but line, wave"):
        separate["z"]
