"""The top level of the repository, where this is run from one."""

from pathlib import Path

import vbks

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
