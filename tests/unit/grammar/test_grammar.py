import ast
import sys
from pathlib import Path

import pytest

import vbks.grammar

FILES = sorted(Path(vbks.grammar.__file__).parent.glob("*.py"))


def imported_modules(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or ".")
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_grammar__imports_only_the_standard_library_and_errors(file: Path) -> None:
    others = {
        name for name in imported_modules(file) if name.split(".")[0] not in sys.stdlib_module_names
    }
    assert all(name == "vbks.errors" or name.startswith("vbks.grammar.") for name in others)


def test_grammar__exports_what_it_says() -> None:
    assert all(hasattr(vbks.grammar, name) for name in vbks.grammar.__all__)
