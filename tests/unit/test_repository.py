"""The top level of the repository, where this is run from one."""

import ast
import builtins
import importlib
import re
from functools import cache
from pathlib import Path

import gpflow
import numpy as np
import pytest
from scipy.stats import norm

import vbks
from vbks.inference.screening import ScreeningPolicy

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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_top_level__has_exactly_these_names():
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert names - MADE_BY_TOOLS == TOP


def test_pages__are_there():
    pages = {path.name for path in (ROOT / "docs").iterdir()}
    wanted = {"LICENSE", "architecture.md", "changelog.md", "contributing.md", "notation.md"}
    assert wanted <= pages


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


CONTRIBUTING = (ROOT / "docs" / "contributing.md").read_text()
PARTS = dict(re.findall(r"(?ms)^## An? (\w+)$(?:(?!^## ).)*?^```python\n(.*?)^```", CONTRIBUTING))
"""What contributing.md shows, by the first words of its headings, and the code."""


def test_contributing__shows_every_extension_point():
    assert set(PARTS) == {"family", "strategy", "acquisition", "likelihood", "warp"}


@pytest.mark.usefixtures("scoped_registries")
@pytest.mark.parametrize("part", PARTS)
def test_contributing__code_runs_and_selections_of_it_are_saved(part, tmp_path):
    names = {"__name__": "contributing"}
    exec(compile(PARTS[part], "contributing.md", "exec"), names)
    if "selection" not in names:
        return
    selection = names["selection"]
    selection.save(tmp_path / part)
    again = vbks.load(tmp_path / part)
    X = np.linspace(0.5, 5.0, 7)[:, np.newaxis]
    for found, expected in zip(again.predict_y(X), selection.predict_y(X), strict=True):
        assert np.all(np.isfinite(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert set(again.belief["warp"]) == set(selection.belief["warp"])


def test_pages__have_no_placeholders():
    for page in PAGES:
        assert not re.search(r"\b[A-Z]+_[A-Z_]+\b(?!`)", page.read_text().replace("`", "")), page


def test_pages__link_to_files_that_are_there():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#\s]+)", without_code(page.read_text())):
            assert "://" in link or (page.parent / link).exists(), f"{page} links to {link}"


def test_pages__name_files_that_are_there():
    folders = "vbks|docs|scripts|tests|examples"
    for page in PAGES:
        for path in re.findall(rf"`(?:\./)?((?:{folders})/[\w./-]*)", page.read_text()):
            assert (ROOT / path).exists(), f"{page} names {path}"


def test_pages__name_parts_of_the_package_that_are_there():
    text = "\n".join(page.read_text() for page in PAGES)
    for name in sorted(set(re.findall(r"\bvbks(?:\.[A-Za-z_]\w*)+", text))):
        assert resolve(name) is not None


def test_pages__name_classes_that_are_there():
    for page in PAGES:
        text = without_code(page.read_text())
        for name, attribute in re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.([a-z]\w*))?[(`]", text):
            own = names_in_the_package().get(name)
            assert own is not None or is_known_elsewhere(name), f"{page} names {name}"
            assert not attribute or not own or attribute in own, f"{page}: {name}.{attribute}"


def test_architecture__is_read_in_some_minutes():
    assert len((ROOT / "docs" / "architecture.md").read_text().split()) <= 1500


def test_decisions__are_listed_with_their_dates():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    listed = re.findall(r"(?m)^- (\d{4}-\d\d-\d\d): \[(.+)\]\((.+)\)$", index)
    assert {name for *_, name in listed} == {p.name for p in folder.glob("*.md")} - {"README.md"}
    for date, title, name in listed:
        text = (folder / name).read_text()
        assert text.startswith(f"# {title}\n\n*{date} · ")
        assert all(f"**{part}.**" in text for part in ("Question", "Measured", "Decided")), name


def test_screening_page__has_the_rungs_of_the_policy():
    text = (ROOT / "docs" / "algorithms" / "screening.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert [tuple(row) for row in rows[2:]] == [
        (
            rung.name,
            rung.rows,
            str(rung.evaluations),
            written(rung.schedule),
            written(rung.child_schedule),
            f"{rung.margin:g}",
        )
        for rung in ScreeningPolicy().rungs
    ]


def written(schedule):
    """A schedule in words."""
    return ", ".join(f"{num} after {evaluations}" for evaluations, num in schedule)


def test_notation__has_every_size_of_shapes():
    sizes = (ROOT / "docs" / "notation.md").read_text().partition("## Quantities")[0]
    known = set(re.findall(r"\b[A-Z]\b", " ".join(re.findall(r"(?m)^\| ([^|]+) \|", sizes))))
    used = {
        size
        for path in (ROOT / "vbks").rglob("*.py")
        for shape in re.findall(r"\[([A-Z0-9a-z+*/, ]+)\]", docstrings(path))
        for size in re.findall(r"\b[A-Z]\b", shape)
    }
    assert used - known == set()


def without_code(text):
    """The text without blocks of code."""
    return re.sub(r"(?s)```.*?```", "", text)


def resolve(name):
    """What a dotted name stands for."""
    found = vbks
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


@cache
def names_in_the_package():
    """Classes and other names of all modules, with the names in the bodies of classes."""
    found = {}
    for path in (ROOT / "vbks").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).update(_names_in(node))
            elif isinstance(node, ast.Assign):
                found |= {target.id: set() for target in node.targets if hasattr(target, "id")}
    return found


def _names_in(node):
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            yield part.name
        elif isinstance(part, ast.AnnAssign):
            yield part.target.id
        elif isinstance(part, ast.Assign):
            yield from (target.id for target in part.targets if hasattr(target, "id"))


def is_known_elsewhere(name):
    """Whether a name is Python's or GPflow's."""
    homes = (builtins, gpflow.kernels, gpflow.models, gpflow.likelihoods, gpflow.functions)
    return any(hasattr(home, name) for home in homes)


def docstrings(path):
    """All docstrings of a module, and texts below its constants."""
    nodes = ast.walk(ast.parse(path.read_text()))
    values = (node.value for node in nodes if isinstance(node, ast.Expr))
    return "\n".join(
        v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)
    )


WITHOUT_BEHAVIOUR = {
    "arrays",
    "criticism/checks/check",
    "data/signals/policy",
    "inference/svgp/policy",
    "kernels/starts/policy",
    "version",
    "weights/policy",
}
"""Modules of names, types and numbers alone, of which there is nothing to test."""

TESTED_THROUGH = {
    "backtesting/plots": "backtesting/test_rolling",
    "backtesting/results": "backtesting/test_rolling",
    "backtesting/rows": "backtesting/test_rolling",
    "inference/pipeline": "inference/test_evaluator",
    "inference/screening": "inference/test_evaluator",
    "inference/settings": "inference/test_choices",
    "parts/averaging": "parts/test_decomposing",
    "parts/components": "selection/test_components",
    "parts/posteriors": "parts/test_decomposing",
    "parts/sources": "parts/test_decomposing",
    "planning": "execution/test_dry_run",
    "policies": "test_config",
    "predict/graphs/mixture": "predict/test_serving",
    "predict/models/evidences": "selection/test_model_average",
    "predict/models/posterior_models": "predict/models/test_gpflow_models",
    "predict/models/theta_views": "predict/models/test_variational_svgp",
    "predict/new_noise": "test_known_noise",
    "predict/posteriors/new_inputs": "predict/test_mixture",
    "search/follow_ups": "inference/bounds/test_upper_bounds",
    "search/method": "search/test_methods",
    "search/problem": "search/test_methods",
    "selecting": "test_api",
    "selection/belief_tables": "test_api",
    "selection/encoding": "selection/test_files",
    "selection/explained": "selection/test_criticism",
    "selection/loading": "selection/test_files",
    "selection/new_inputs": "test_api",
    "selection/old_formats": "selection/test_files",
    "selection/plot_data": "selection/test_plots",
    "selection/record": "selection/test_files",
    "selection/selection": "test_api",
    "selection/selections": "test_several_targets",
    "selection/several_files": "test_several_targets",
    "selection/trace": "selection/test_plots",
    "selection/updates": "selection/test_refits",
    "ui/commands/demo": "ui/test_demo",
    "ui/paths": "ui/commands/test_fit",
    "ui/tensorflow": "ui/commands/test_fit",
}
"""Modules that are parts of one thing, whose tests are those of the whole."""

TESTS = Path(__file__).parent
MODULES = {
    str(path.relative_to(ROOT / "vbks").with_suffix(""))
    for path in (ROOT / "vbks").rglob("*.py")
    if path.name != "__init__.py"
}


def has_tests(module):
    return (TESTS / module).with_name(f"test_{Path(module).name}.py").exists()


def test_modules__have_a_test_file_of_their_own_or_one_that_is_named():
    missing = {module for module in MODULES if not has_tests(module)}
    named = WITHOUT_BEHAVIOUR | TESTED_THROUGH.keys()
    assert not missing - named
    assert named <= MODULES
    assert all((TESTS / f"{file}.py").exists() for file in TESTED_THROUGH.values())
