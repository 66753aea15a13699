"""The top level of the repository, where this is run from one."""

import re
from pathlib import Path

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


def test_readme__code_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_contributing__code_runs(monkeypatch):
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
    monkeypatch.setattr(families, "_RULES", dict(families._RULES))
    text = (ROOT / "docs" / "contributing.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        exec(compile(block, "contributing.md", "exec"), {})


def test_pages__have_no_placeholders():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"\b[A-Z]+_[A-Z_]+\b(?!`)", page.read_text().replace("`", "")), page
