"""The top level of the repository, where this is run from one."""

import re
from pathlib import Path

import numpy as np
from scipy.stats import norm

import vbks
from vbks.grammar import families
from vbks.kernels import registry

ROOT = Path(vbks.__file__).parents[1]
TOP = {
    "README.md",
    "docs",
    "examples",
    "pyproject.toml",
    "scripts",
    "setup.cfg",
    "tests",
    "vbks",
}
MADE_BY_TOOLS = {"vbks.egg-info", "build", "dist", "__pycache__"}


def test_top_level__has_exactly_these_names():
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert names - MADE_BY_TOOLS == TOP


def test_pages__are_there():
    pages = {path.name for path in (ROOT / "docs").iterdir()}
    assert {"LICENSE", "changelog.md", "contributing.md", "design.md", "notation.md"} <= pages


def test_readme__names_the_two_commands():
    text = (ROOT / "README.md").read_text()
    for command in ("./scripts/demo", "./scripts/test"):
        assert command in text
        assert (ROOT / command).stat().st_mode & 0o111, f"{command} cannot be run"


def test_readme__code_forecasts_what_came():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    forecast, update = re.split(r"(?m)^(?=selection = selection\.update)", block)
    names = {}
    exec(compile(forecast, "README.md", "exec"), names)
    selection, data, mean = names["selection"], names["data"], names["mean"]
    X, y, known = data.X[-24:], data.y[-24:], data.y[:-24]
    low, high = selection.predict_quantiles(X, (0.05, 0.95)).T
    assert rmse(mean, y) < rmse(np.tile(known[-12:], 2), y)
    assert np.mean((low <= y) & (y <= high)) >= 0.75
    assert np.mean(selection.predict_log_density((X, y))) > norm.logpdf(y, *norm.fit(known)).mean()
    gaps = np.abs(mean - forecast_by_gpflow(selection, X))
    assert np.all(gaps < 2 * np.sqrt(names["variance"]))
    exec(compile(update, "README.md", "exec"), names)
    after_a_year, _ = names["selection"].predict_y(X[12:])
    assert rmse(after_a_year, y[12:]) < rmse(y[:12], y[12:])
    assert rmse(after_a_year, y[12:]) < rmse(mean[12:], y[12:])


def forecast_by_gpflow(selection, X):
    """Means of targets by the best candidate alone."""
    units = selection.units
    mean, variance = selection.model().predict_y(units.standardise_inputs(X))
    return units.restore_moments(mean.numpy()[:, 0], variance.numpy()[:, 0])[0]


def rmse(forecast, y):
    return np.sqrt(np.mean((forecast - y) ** 2))


def test_contributing__code_runs(monkeypatch):
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
    monkeypatch.setattr(families, "_RULES", dict(families._RULES))
    text = (ROOT / "docs" / "contributing.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        exec(compile(block, "contributing.md", "exec"), {})


def test_pages__have_no_placeholders():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"\b[A-Z]+_[A-Z_]+\b(?!`)", page.read_text().replace("`", "")), page
