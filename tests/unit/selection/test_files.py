from __future__ import annotations

import errno
import json
import math
import pickle
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pandas as pd
import pytest
from gpflow.functions import Additive, Constant, Linear

from vbks.data.sources import ArraySource
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity, InverseSoftplus, Log, Warp
from vbks.errors import FileError
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.result import (
    ConditionalPosteriors,
    InducingPosterior,
    LocalFit,
    Mode,
    PruningStep,
)
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out
from vbks.search.paper import BeliefRecord, Training, TrainingRecord
from vbks.search.protocol import Step
from vbks.selection.files import ADDED, ARRAY_FILE, FORMAT, PLAIN_FILE, save
from vbks.selection.loading import load
from vbks.selection.record import SelectionRecord
from vbks.selection.selection import Selection
from vbks.weights.settings import BeliefSettings

BOUNDS = ("exact", "collapsed", "stochastic")
OLD_FOLDER = Path(__file__).parent / "format_5"
NUM_ROWS = 24
NUM_INDUCING = 6
NUM_THETA = 3
XNEW = np.linspace(2.0, 12.0, 17)[:, np.newaxis]


@cache
def make_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(3, 9, NUM_ROWS))[:, np.newaxis]
    return X, np.exp(2 + 0.5 * np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=NUM_ROWS))


def make_data(X: Any = None, y: Any = None) -> dict[Warp, TrainingData]:
    rows = prepare(make_rows() if X is None else (X, y))
    warps = (Log(), InverseSoftplus(2.5))
    return {Identity(): rows} | {warp: rows.warped(warp) for warp in warps}


def make_fit(
    text: str, bound: Any, data: TrainingData, evidence: float, num_modes: int = 1
) -> LocalFit:
    """A fit at some θ; nothing here depends on where θ comes from."""
    H, rng = len(lay_out(text)), np.random.default_rng(len(text))
    modes = tuple(
        Mode(
            mean=0.3 * rng.normal(size=H) - np.eye(H)[0],
            factor=0.1 * np.tril(rng.normal(size=(H, H))),
            weight=1.0 / num_modes,
            log_likelihood=-30.0 - number,
            log_prior=-2.5,
            log_volume=-1.0 / 3.0,
            elbo=evidence,
        )
        for number in range(num_modes)
    )
    root = np.tril(0.3 * rng.normal(size=(NUM_INDUCING,) * 2)) + np.eye(NUM_INDUCING)
    q_u = InducingPosterior(rng.normal(size=NUM_INDUCING), root @ root.T)
    return LocalFit(
        expression=parse(text),
        num_inputs=1,
        num_rows=NUM_ROWS,
        bound=bound,
        posterior="full",
        num_free=H,
        elbo=evidence - data.log_jacobian,
        standard_error=0.25,
        evidence=evidence - data.log_jacobian + 0.5,
        evidence_error=0.125,
        theta_samples=np.random.default_rng(9).normal(size=(NUM_THETA, H)),
        most_probable=0.01,
        upper=12.5,
        held_out=-3.5,
        modes=modes,
        inducing=None if bound == "exact" else data.sample(NUM_ROWS, rng)[0][::4].copy(),
        q_u=q_u if bound == "stochastic" else None,
        jitter=1e-6,
        ard=False,
        converged=True,
        restarts=8,
        seconds=0.7,
        pruning=(
            PruningStep("screening", -50.5, -40.25, True),
            PruningStep("optimisation", -41.0, -math.inf, True),
        ),
        notices=("exact: 3 candidates on 24 rows are few enough.",),
        warp=data.units.warp,
        log_jacobian=data.log_jacobian,
        fixed=(1,),
    )


def make_selection(bound: str = "exact", **changes: Any) -> Selection:
    data = changes.pop("data", None) or make_data()
    identity, log, softplus = data.values()
    fits = (
        make_fit("SE * PER + LIN", bound, identity, -40.0, num_modes=2),
        make_fit("SE", bound, log, -40.5),
        make_fit("LIN", bound, softplus, -41.0),
        replace(make_fit("PER", bound, log, math.nan), status="dropped", reason="90 nats behind"),
        replace(
            make_fit("RQ", bound, identity, -math.inf),
            status="failed",
            reason="no covariance could be factorised",
            modes=(),
            q_u=None,
        ),
    )
    names = pd.MultiIndex.from_tuples(
        [("SE * PER + LIN", "identity"), ("SE", "log")], names=["expression", "warp"]
    )
    trace = pd.DataFrame({0.5: [0.75, 0.25], 1.0: [1 / 3, 2 / 3]}, index=names)
    settings: dict[str, Any] = {
        "belief_settings": BeliefSettings(
            "vbks",
            1.5,
            {"LIN + PER * SE": 2.0, "SE": 1.0, "LIN": 0.5, "PER": 1.0, "RQ": 0.25},
            0.3,
            "bic",
            max_candidates=4,
            form="mixture",
            prior_mean={"SE": 0.5},
            prior_covariance={("LIN", "SE"): 0.1},
            weights="belief",
            seed=7,
        ),
        "feature_names": ("day \u00b5",),
        "notices": ("2 rows have the inputs of an earlier row.",),
        "untried": ("SE + PER", "RQ of log targets"),
        "target_name": "load (MW)",
        "trace": trace.T.rename_axis("proportion"),
    }
    return Selection(fits, data, **settings | changes)


def make_full_selection() -> Selection:
    """A selection that has something in every field of its own and of what it is made of."""
    selection = make_selection("stochastic")
    first, *others = selection.fits
    (mode, _), rng = first.modes, np.random.default_rng(1)
    samples = ConditionalPosteriors(
        mode.mean + rng.normal(size=(3, len(mode.mean))),
        rng.normal(size=(3, NUM_INDUCING)),
        rng.normal(size=(3, NUM_INDUCING, NUM_INDUCING)),
    )
    first = replace(first, q_u=replace(first.q_u, samples=samples))
    names = tuple(str(fit.expression) for fit in selection.fits)
    history = tuple(
        BeliefRecord(step, 0.5 * step, 0.25, names, rng.normal(size=5), rng.dirichlet(np.ones(5)))
        for step in (10, 20)
    )
    record = TrainingRecord(20, 8, NUM_INDUCING, 4, True, "adam", 1e-3, "point", 100, NUM_ROWS)
    source = ArraySource(*make_rows(), np.linspace(0.0, 0.1, NUM_ROWS))
    return replace(
        selection,
        fits=(first, *others),
        data={warp: replace(rows, source=source) for warp, rows in selection.data.items()},
        training=Training(PaperSettings(steps=20, max_averaged=3), record, history),
        search_steps=(Step(0.5, 3, "SE", "log", -42.0), Step(1.5, 5, names[0], "identity", -40.0)),
        mean_function=Additive(Constant(2.0), Linear([[0.5]], [1.0])),
    )


def described(value: Any) -> Any:
    """A value in terms that compare equal only if nothing was lost."""
    if is_dataclass(value):
        return type(value), {f.name: described(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, pd.DataFrame):
        return value.to_json(double_precision=15), value.columns.names, value.index.name
    if isinstance(value, tuple):
        return tuple(described(part) for part in value)
    if isinstance(value, dict):
        return {key: described(part) for key, part in value.items()}
    return repr(value) if isinstance(value, float) else value


@pytest.fixture(scope="module", params=BOUNDS)
def pair(request: Any, tmp_path_factory: Any) -> tuple[Selection, Selection]:
    """A selection, and what it is after it was saved and loaded."""
    selection = make_selection(request.param)
    folder = tmp_path_factory.mktemp("saved") / "selection"
    selection.save(folder)
    return selection, load(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "selection"
    save(make_selection("stochastic"), folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A saved selection that a test may spoil."""
    return Path(shutil.copytree(saved, tmp_path / "copy"))


# What comes back


def test_loaded__is_what_was_saved(pair: Any) -> None:
    selection, loaded = pair
    assert described(loaded) == described(selection)
    assert len({id(data.source) for data in loaded.data.values()}) == 1


def test_loaded__has_every_field_of_a_full_selection(tmp_path: Path) -> None:
    settings = {"seed": 3, "race": True, "grid": (1.5, math.inf, ("a", None)), "shift": -2}
    selection = replace(make_full_selection(), settings=settings)
    selection.save(tmp_path / "saved")
    loaded = load(tmp_path / "saved")
    table = loaded.settings_table
    assert dict(zip(table["setting"], table["value"], strict=True)) == settings
    np.testing.assert_array_equal(loaded.mean_function(XNEW), selection.mean_function(XNEW))
    assert described(replace(loaded, mean_function=selection.mean_function)) == described(selection)


def test_full_selection__has_no_field_at_its_default() -> None:
    selection = replace(make_full_selection(), settings={"seed": 1}, given_weights=np.ones(5) / 5)
    for own in fields(SelectionRecord):
        value = getattr(selection, own.name)
        is_default = value is None or (isinstance(value, tuple | dict) and not value)
        assert own.name == "time_inputs" or not is_default, own.name


def test_save__refuses_settings_that_are_not_plain(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the setting 'seed' cannot be saved: it is a set"):
        save(make_selection(settings={"seed": {1}}), tmp_path / "saved")


def test_saved_fits__have_no_field_at_its_default() -> None:
    fits = make_selection("stochastic").fits
    for field in fields(LocalFit):
        values = [described(getattr(fit, field.name)) for fit in fits]
        assert any(value != described(field.default) for value in values), field.name


def test_loaded__predicts_the_same(pair: Any) -> None:
    selection, loaded = pair
    ynew = np.linspace(3, 12, len(XNEW))
    for before, after in [
        (selection.predict_f(XNEW), loaded.predict_f(XNEW)),
        (selection.predict_y(XNEW), loaded.predict_y(XNEW)),
        (selection.predict_quantiles(XNEW), loaded.predict_quantiles(XNEW)),
        (selection.predict_log_density((XNEW, ynew)), loaded.predict_log_density((XNEW, ynew))),
    ]:
        np.testing.assert_allclose(after, before, rtol=1e-12)


def test_loaded__has_the_same_belief(pair: Any) -> None:
    selection, loaded = pair
    pd.testing.assert_frame_equal(loaded.belief, selection.belief, rtol=0, atol=1e-12)


def test_loaded__can_be_updated(tmp_path: Path) -> None:
    identity = make_data()[Identity()]
    fit = make_fit("SE", "exact", identity, -40.0)
    fit = replace(fit, posterior="point", ard=True, jitter=0.0)
    selection = Selection((fit,), {Identity(): identity})
    save(selection, tmp_path / "saved")
    more = np.array([[9.5], [9.8]]), np.array([7.0, 8.0])
    before, after = selection.update(*more), load(tmp_path / "saved").update(*more)
    assert after.data[Identity()].num_rows == NUM_ROWS + 2
    assert after.fits[0].elbo == pytest.approx(before.fits[0].elbo, abs=1e-9)


def test_inducing_inputs__are_stored_once(saved: Path) -> None:
    with np.load(saved / ARRAY_FILE, allow_pickle=False) as arrays:
        assert arrays["inducing"].shape == (NUM_INDUCING,)
        assert arrays["X"].shape == (NUM_ROWS,)


def test_json__is_plain_and_strict(saved: Path) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    values = json.loads((saved / PLAIN_FILE).read_text("ascii"), parse_constant=refuse)
    assert values["format"] == FORMAT
    assert [fit["expression"] for fit in values["fits"]][:2] == ["SE * PER + LIN", "SE"]
    assert values["fits"][4]["elbo"] == "-inf"


def test_likelihood__comes_back_by_its_name(tmp_path: Path) -> None:
    X, y = make_rows()
    data = prepare((X, np.round(y)), standardise_targets=False)
    fit = replace(make_fit("SE", "stochastic", data, -40.0), ard=True)
    selection = Selection((fit,), {Identity(): data}, likelihood=make_likelihood("poisson"))
    save(selection, tmp_path / "saved")
    loaded = load(tmp_path / "saved")
    assert loaded.likelihood.name == "Poisson"
    np.testing.assert_allclose(loaded.predict_y(XNEW), selection.predict_y(XNEW), rtol=1e-12)


# Rows outside of memory


@pytest.fixture
def mapped(tmp_path: Path) -> dict[Warp, TrainingData]:
    tables = []
    for name, values in zip("Xy", make_rows(), strict=True):
        table = np.memmap(tmp_path / name, np.float64, "w+", shape=values.shape)
        table[:] = values
        tables.append(table)
    return make_data(*tables)


def test_mapped_rows__are_left_out_where_no_prediction_needs_them(
    mapped: Any, tmp_path: Path
) -> None:
    selection = make_selection("stochastic", data=mapped)
    save(selection, tmp_path / "saved")
    loaded = load(tmp_path / "saved")
    assert loaded.data[Log()].num_rows == NUM_ROWS
    np.testing.assert_allclose(loaded.predict_y(XNEW), selection.predict_y(XNEW), rtol=1e-12)
    with pytest.raises(FileError, match="24 rows of this selection were not saved with it"):
        loaded.similarity()
    save(loaded, tmp_path / "again")
    assert described(load(tmp_path / "again")) == described(loaded)


def test_weights_of_stacking__stay_when_rows_are_left_out(mapped: Any, tmp_path: Path) -> None:
    selection = make_selection(
        "stochastic", data=mapped, belief_settings=BeliefSettings(weights="stacking")
    )
    save(selection, tmp_path / "saved")
    loaded = load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.weights, selection.weights)
    assert np.abs(loaded.weights - loaded.probabilities).max() > 0.01
    assert loaded.with_belief(weights="belief").given_weights is None


def test_mapped_rows__are_saved_where_predictions_need_them(mapped: Any, tmp_path: Path) -> None:
    save(make_selection("collapsed", data=mapped), tmp_path / "saved")
    X, y = next(load(tmp_path / "saved").data[Log()].source.blocks(NUM_ROWS))
    np.testing.assert_array_equal(X, make_rows()[0])
    np.testing.assert_array_equal(y, make_rows()[1])


# What cannot be saved


@pytest.mark.usefixtures("scoped_registries")
def test_save__refuses_kernels_that_only_this_process_knows(tmp_path: Path) -> None:
    expression = from_gpflow(gpflow.kernels.ArcCosine()).expression
    selection = make_selection()
    fits = (replace(selection.fits[0], expression=expression), *selection.fits[1:])
    with pytest.raises(FileError, match="is a GPflow kernel that only this program knows"):
        save(replace(selection, fits=fits), tmp_path / "saved")
    assert not list(tmp_path.iterdir())


def test_save__refuses_likelihoods_without_a_name(tmp_path: Path) -> None:
    likelihood = make_likelihood(gpflow.likelihoods.Poisson(binsize=2.0))
    with pytest.raises(FileError, match="not the one that likelihood='poisson' stands for"):
        save(make_selection(likelihood=likelihood), tmp_path / "saved")


# Where it is written


def test_save__replaces_an_earlier_selection(folder: Path) -> None:
    save(make_selection("exact"), folder)
    assert load(folder).fits[0].bound == "exact"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_save__fills_an_empty_folder_and_makes_those_above(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "a" / "b"):
        save(make_selection(), str(folder))
        assert sorted(path.name for path in folder.iterdir()) == [ARRAY_FILE, PLAIN_FILE]


def test_save__keeps_a_link_to_the_folder(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder, target_is_directory=True)
    save(make_selection("exact"), link)
    assert link.is_symlink()
    assert load(folder).fits[0].bound == "exact"


def test_save__refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileError, match=r"file' is not a folder. Give the path of a new folder"):
        save(make_selection(), tmp_path / "file")
    with pytest.raises(FileError, match=r"cannot be written to .*: Not a directory"):
        save(make_selection(), tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["report.html", PLAIN_FILE, ARRAY_FILE])
def test_save__refuses_a_folder_with_something_else(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(FileError, match=r"would be lost. Give the path of a new folder"):
        save(make_selection(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_save__refuses_a_selection_with_other_files_beside_it(folder: Path) -> None:
    (folder / "report.html").write_text("mine")
    with pytest.raises(FileError, match=r"holds 'report.html', which is no part of a selection"):
        save(make_selection(), folder)
    assert load(folder).fits[0].bound == "stochastic"


# All or nothing


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("error", "expected", "match"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FileError, "No space left on device"),
        (KeyboardInterrupt("stop"), KeyboardInterrupt, "stop"),
    ],
)
def test_save__leaves_all_as_it_was_if_writing_fails(
    error: BaseException, expected: Any, match: str, monkeypatch: Any, folder: Path
) -> None:
    def fail(*args: Any, **arrays: Any) -> None:
        raise error

    before = contents(folder)
    monkeypatch.setattr(np, "savez", fail)
    for target in (folder, folder.parent / "new"):
        with pytest.raises(expected, match=match):
            save(make_selection("exact"), target)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_save__puts_the_earlier_selection_back_if_renaming_fails(
    monkeypatch: Any, folder: Path
) -> None:
    rename = Path.rename

    def fail_for_the_new_one(self: Path, target: Path) -> Path:
        if ".tmp-" in self.name:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    before = contents(folder)
    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(FileError, match="Input/output error"):
        save(make_selection("exact"), folder)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


# What is not loaded


def test_load__refuses_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no folder '.*nowhere'. Check the path"):
        load(tmp_path / "nowhere")
    with pytest.raises(FileError, match=r"holds no saved selection, as there is no file"):
        load(tmp_path)


def test_load__refuses_a_file_in_place_of_the_folder(folder: Path) -> None:
    with pytest.raises(FileError, match=r"is a file. Give the folder of a saved selection"):
        load(folder / PLAIN_FILE)


@pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "vbks checkpoint"}', "3"])
def test_load__refuses_other_json(text: str, folder: Path) -> None:
    (folder / PLAIN_FILE).write_text(text)
    with pytest.raises(FileError, match="is not of a saved selection"):
        load(folder)


@pytest.mark.parametrize(
    "text", ["", "{", "nonsense", '{"kind": NaN}', "[" * 100_000, "\udce4", "9" * 5000]
)
def test_load__refuses_what_is_not_json(text: str, folder: Path) -> None:
    (folder / PLAIN_FILE).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FileError, match="is not JSON that can be read"):
        load(folder)


def test_load__refuses_cut_json(folder: Path) -> None:
    file = folder / PLAIN_FILE
    file.write_text(file.read_text()[:-20])
    with pytest.raises(FileError, match="is not JSON that can be read"):
        load(folder)


Edit = Callable[[dict[str, Any]], Any]


def edit(folder: Path, change: Edit) -> None:
    values = json.loads((folder / PLAIN_FILE).read_text())
    change(values)
    (folder / PLAIN_FILE).write_text(json.dumps(values))


def rows(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = values["data"]["rows"]
    return found


def mode(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = values["fits"][1]["modes"][0]
    return found


# Earlier formats


@pytest.fixture
def old_folder(tmp_path: Path) -> Path:
    """What `make_full_selection` was saved as in format 5; a test may spoil it."""
    return Path(shutil.copytree(OLD_FOLDER, tmp_path / "old"))


def test_load__reads_format_5() -> None:
    found, expected = load(OLD_FOLDER), make_full_selection()
    np.testing.assert_array_equal(found.mean_function(XNEW), expected.mean_function(XNEW))
    expected = replace(
        expected,
        mean_function=found.mean_function,
        target_name=None,
        fits=tuple(replace(fit, theta_samples=None) for fit in expected.fits),
    )
    assert described(found) == described(expected)


def test_load__reads_files_that_name_no_target(folder: Path) -> None:
    edit(folder, lambda values: values.pop("target_name"))
    assert load(folder).target_name is None


def test_load__reads_fits_without_samples_of_theta(folder: Path) -> None:
    before = load(folder)
    edit(folder, lambda values: [fit.pop("theta_samples") for fit in values["fits"]])
    file = folder / ARRAY_FILE
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "theta_samples"}
    np.savez(file, **arrays)
    loaded = load(folder)
    assert all(fit.theta_samples is None for fit in loaded.fits)
    np.testing.assert_array_equal(loaded.probabilities, before.probabilities)


def test_load__survives_any_value_of_an_earlier_format(old_folder: Path) -> None:
    survive(old_folder, OLD_FOLDER)


def test_load__reads_format_3(old_folder: Path) -> None:
    folder = old_folder
    expected = load(folder)
    with np.load(folder / ARRAY_FILE) as arrays:
        earlier = {name: arrays[name] for name in arrays if name not in ("history", "noise")}
    np.savez(folder / ARRAY_FILE, **earlier)

    def before(values: dict[str, Any]) -> None:
        values["format"] = 3
        del values["training"], values["mean_function"]
        for name in ("averaging_variance", "averaging_members"):
            del values["belief"][name]

    edit(folder, before)
    found = load(folder)
    assert found.training is None and found.belief_settings == expected.belief_settings
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_load__refuses_a_newer_format(folder: Path) -> None:
    edit(folder, lambda values: values.update(format=FORMAT + 1, version="9.8"))
    with pytest.raises(
        FileError, match=rf"vbks '9.8' in format {FORMAT + 1}, and vbks .* Install a newer"
    ):
        load(folder)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda v: v["fits"][1].update(expression="MINE"), "register_family before the selection"),
        (lambda v: v["fits"][1].update(expression="RQ"), r"'RQ', has 3 parameters, expected 4"),
        (lambda v: v["fits"][1].update(expression="SE[2]"), "fit 2 .* cannot be read"),
        (lambda v: v["fits"][1].update(more=1), "fit 2 of .* has an unknown 'more'"),
        (lambda v: v.update(more=1), "json' has an unknown 'more'"),
        (lambda v: mode(v).update(mean=[10**30]), "numbers left where 1000000000"),
        (lambda v: mode(v).update(mean=[0, 10**30]), "0 × 1000000000"),
        (lambda v: mode(v).update(mean=[3, 1]), "'mean' .* has the shape 3 × 1, expected H"),
        (lambda v: mode(v).update(factor=[1, 9]), "'factor' of mode 1 of fit 2 .* expected H = 3"),
        (lambda v: mode(v).update(weight="nan"), "'weight' of mode 1 of fit 2 .* a finite number"),
        (lambda v: v["fits"][1]["q_u"].update(mean=[5]), "the size 5, expected M = 6"),
        (lambda v: v["fits"][1].update(q_u=None), "is fitted but has no q"),
        (lambda v: v["fits"][1].update(modes=[]), "is fitted but has no θ"),
        (lambda v: v["fits"][1].update(inducing=None), "is fitted but has no inducing"),
        (lambda v: v["fits"][1].update(inducing=1), "'inducing' of fit 2 .* a number below 1"),
        (lambda v: v["fits"][1].update(status="lost"), "is 'lost', expected one of fitted, dro"),
        (lambda v: v["fits"][1].update(elbo=None), "'elbo' of fit 2 .* expected a number"),
        (lambda v: v["fits"][1].update(elbo=True), "'elbo' of fit 2 .* expected a number"),
        (lambda v: v["fits"][1].update(elbo=10**400), "that fits into 64 bits"),
        (lambda v: v["fits"][1].update(jitter="nan"), "is nan, expected a finite number"),
        (lambda v: v["fits"][1].update(num_inputs=10**400), "expected D = 1"),
        (lambda v: v["fits"][1].update(warp={"name": "sqrt"}), "no warp is described"),
        (lambda v: v["fits"][1].update(warp={"name": "softplus", "scale": 3.0}), "other data"),
        (lambda v: v["fits"].pop(3), "numbers too many"),
        (lambda v: v.update(fits=[]), "none of 0 candidates could be fitted"),
        (lambda v: v.update(fits={"a": 1}), "'fits' of .* expected a list"),
        (lambda v: v["fits"][0].update(inducing=[7, 1]), "'inducing' of .* has 6 numbers left"),
        (lambda v: v["fits"][0].update(fixed=[99]), "fit 1 of .* holds parameter 99"),
        (lambda v: rows(v).update(X=[25, 1]), "'X' of .* has 24 numbers left where 25 × 1"),
        (lambda v: rows(v).update(num_rows=25), "'X' of .* has the size 24 × 1, expected N = 25"),
        (lambda v: rows(v).update(num_rows=-1), "expected a whole number from 0 on"),
        (lambda v: rows(v).update(num_inputs=0), "'num_inputs' .* expected D = 1"),
        (lambda v: rows(v).update(num_rows=0, X=None, y=None), "0 rows of 1 inputs"),
        (lambda v: rows(v).update(X=None), "has inputs or targets alone"),
        (lambda v: rows(v).update(X=None, y=None), "'X' of .* has 24 numbers too many"),
        (lambda v: v["data"]["units"].pop(), "fit 3 of .* is of other data than is there"),
        (lambda v: v["data"].update(units=[]), "json' has no data"),
        (lambda v: v["data"]["units"][0]["units"].update(y_scale=0.0), "scales above 0"),
        (lambda v: v["belief_settings"].update(kind="best"), "is 'best', expected one of bayes"),
        (lambda v: v["belief_settings"].update(max_candidates=0), "max_candidates is 0"),
        (lambda v: v["belief_settings"].update(prior=[["SE"]]), "a list of keys and values"),
        (lambda v: v["belief_settings"].update(prior="best"), "is 'best', expected one of unif"),
        (lambda v: v["likelihood"].update(name="cauchy"), "Unknown likelihood 'cauchy'"),
        (lambda v: v["likelihood"].update(variance=-1.0), "is -1.0, expected a number above 0"),
        (lambda v: v["trace"]["warps"].pop(), "'warps' .* has the size 1, expected P = 2"),
        (lambda v: v["trace"]["proportions"].pop(), "has the size 2 × 2, expected T = 1"),
        (lambda v: v["settings"].update(seed=10**30), "'settings' of .* that fits into 64 bits"),
        (lambda v: v["settings"].update(seed={"number": "many"}), "expected a number"),
        (lambda v: v.update(format=0), "'format' of .* is 0, expected a number from 1"),
    ],
)
def test_load__refuses_values_that_do_not_fit(change: Edit, match: str, folder: Path) -> None:
    edit(folder, change)
    with pytest.raises(FileError, match=match.replace("q(u)", r"q\(u\)")):
        load(folder)


def test_load__refuses_every_missing_key(saved: Path, folder: Path) -> None:
    values = json.loads((saved / PLAIN_FILE).read_text())
    for path in paths_of(values):
        if isinstance(path[-1], str) and is_needed(path):
            spoiled = json.loads((saved / PLAIN_FILE).read_text())
            del parent_of(spoiled, path)[path[-1]]
            (folder / PLAIN_FILE).write_text(json.dumps(spoiled))
            with pytest.raises(FileError, match=f"has no '{path[-1]}'"):
                load(folder)


def is_needed(path: tuple[Any, ...]) -> bool:
    """Whether a value has to be there; one fit stands for all, and warps are read elsewhere."""
    is_other = any(isinstance(key, int) and key > 0 for key in path)
    return path[-1] not in ("kind", "version", *ADDED) and not is_other and "warp" not in path[:-1]


def test_load__survives_any_value(saved: Path, folder: Path) -> None:
    survive(folder, saved)


def survive(folder: Path, saved: Path) -> None:
    """Load a folder with odd values in place of any of those of another."""
    values = json.loads((saved / PLAIN_FILE).read_text())
    rng, paths = np.random.default_rng(0), list(paths_of(values))
    odd = [None, True, -1, 0, 3, 10**400, 1e308, "x", "nan", "inf", [], {}, [[]], "9" * 50]
    for _ in range(200):
        path = paths[rng.integers(len(paths))]
        spoiled = json.loads((saved / PLAIN_FILE).read_text())
        parent_of(spoiled, path)[path[-1]] = odd[rng.integers(len(odd))]
        (folder / PLAIN_FILE).write_text(json.dumps(spoiled))
        load_or_refuse(folder)


@pytest.mark.parametrize("name", [PLAIN_FILE, ARRAY_FILE])
def test_load__survives_any_damage(name: str, saved: Path, folder: Path) -> None:
    whole, rng = (saved / name).read_bytes(), np.random.default_rng(1)
    for number in range(200):
        spoiled = bytearray(whole)
        if number % 4 == 0:
            spoiled = spoiled[: rng.integers(len(spoiled))]
        else:
            for place in rng.integers(len(spoiled), size=number % 4):
                spoiled[place] = rng.integers(256)
        (folder / name).write_bytes(spoiled)
        load_or_refuse(folder)


def load_or_refuse(folder: Path) -> None:
    try:
        assert isinstance(load(folder), Selection)
    except FileError as error:
        assert str(error).endswith(".")


def paths_of(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """The way to every value in JSON."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield (*above, key)
        if isinstance(part, dict | list):
            yield from paths_of(part, (*above, key))


def parent_of(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


# Arrays


def arrays_of(folder: Path) -> dict[str, Any]:
    with np.load(folder / ARRAY_FILE) as arrays:
        return dict(arrays)


def test_load__refuses_a_missing_or_cut_array_file(folder: Path) -> None:
    whole = (folder / ARRAY_FILE).read_bytes()
    (folder / ARRAY_FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"arrays.npz' cannot be read: File is not a zip file"):
        load(folder)
    (folder / ARRAY_FILE).unlink()
    with pytest.raises(FileError, match=r"there is no file '.*arrays.npz'"):
        load(folder)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a: a.pop("X"), "has other arrays than were written"),
        (lambda a: a.update(more=np.zeros(3)), "has other arrays than were written"),
        (lambda a: a.update(X=a["X"][:-1]), "'X' of .* has 23 numbers left where 24 × 1"),
        (lambda a: a.update(X=np.append(a["X"], 1)), "'X' of .* has 1 numbers too many"),
        (lambda a: a.update(X=a["X"][:, None]), r"array \[24, 1\] of float64, expected a list"),
        (lambda a: a.update(X=np.float64(1)), r"array \[\] of float64, expected a list"),
        (lambda a: a.update(X=a["X"].astype("f4")), "of float32, expected a list of float64"),
        (lambda a: a.update(X=a["X"].astype("U9")), "of <U9, expected a list of float64"),
        (lambda a: a.update(X=a["X"] * np.nan), "has missing or infinite values"),
        (lambda a: a.update(x_scale=-a["x_scale"]), "scales above 0"),
    ],
)
def test_load__refuses_arrays_that_do_not_fit(
    change: Callable[[dict[str, Any]], Any], match: str, folder: Path
) -> None:
    arrays = arrays_of(folder)
    change(arrays)
    np.savez(folder / ARRAY_FILE, **arrays)
    with pytest.raises(FileError, match=match):
        load(folder)


class Canary:
    """An object that tells when somebody makes it out of a pickle."""

    made = False

    def __reduce__(self) -> Any:
        return Canary._make, ()

    @staticmethod
    def _make() -> Canary:
        Canary.made = True
        return Canary()


def test_load__never_unpickles(folder: Path) -> None:
    objects = np.array([Canary()] * NUM_ROWS, dtype=object)
    np.savez(folder / ARRAY_FILE, **arrays_of(folder) | {"X": objects})
    with pytest.raises(FileError, match="of object, expected a list of float64"):
        load(folder)
    (folder / ARRAY_FILE).write_bytes(pickle.dumps(Canary))
    with pytest.raises(FileError, match="cannot be read"):
        load(folder)
    assert not Canary.made


def write_members(folder: Path, first: bytes, compression: int = zipfile.ZIP_STORED) -> None:
    """The arrays again, with other bytes in place of the first."""
    with zipfile.ZipFile(folder / ARRAY_FILE) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(folder / ARRAY_FILE, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, first if name == "X.npy" else content)


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (header("(1000000000000000000000,)"), "says that it has 1000000000000000000000 numbers"),
        (header("(-8,)"), "says that it has -8 numbers, but 0 bytes"),
        (header("(4294967296, 4294967296)"), "expected a list of float64"),
        (header("('a',)"), "cannot be read: shape is not valid"),
        (header("(" * 500), "cannot be read"),
        (header("__import__('os')"), "cannot be read"),
        (b"\x93NUMPY\x01\x00\xff\xff", "cannot be read"),
        (b"\x93NUMPY\x09\x00", r"version \(9, 0\), expected \(1, 0\)"),
        (b"", "cannot be read"),
    ],
)
def test_load__refuses_absurd_headers(content: bytes, match: str, folder: Path) -> None:
    write_members(folder, content)
    with pytest.raises(FileError, match=match):
        load(folder)


def test_load__refuses_compressed_arrays(folder: Path) -> None:
    zeros = np.zeros(10**6)
    write_members(folder, header("(1000000,)") + zeros.tobytes(), zipfile.ZIP_DEFLATED)
    assert (folder / ARRAY_FILE).stat().st_size < 10**5
    with pytest.raises(FileError, match="compressed or larger than the file"):
        load(folder)
