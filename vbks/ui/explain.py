"""What `vbks fit --explain` prints: every setting and policy of a fit, and what it is for."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass

from rich.table import Table
from rich.text import Text

LONGEST_VALUE = 24
"""A value that takes more letters than this is cut."""


@dataclass(frozen=True)
class Explained:
    """A setting by its name, with its value, its default, and what it is for."""

    name: str
    value: object
    default: object
    sentence: str


def explained_arguments(
    function: Callable[..., object], given: Mapping[str, object]
) -> Iterator[Explained]:
    """The keyword arguments of a function, with what its docstring says about them."""
    sentences = argument_sentences(inspect.getdoc(function) or "")
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            value = given.get(name, parameter.default)
            yield Explained(name, value, parameter.default, sentences.get(name, ""))


def explained_fields(value: object) -> Iterator[Explained]:
    """The fields of a dataclass but for other dataclasses, with the docstrings below them."""
    sentences = field_sentences(type(value))
    for own in fields(value):  # type: ignore[arg-type]
        part = getattr(value, own.name)
        if not is_dataclass(part):
            yield Explained(own.name, part, _default_of(own), sentences.get(own.name, ""))


def argument_sentences(docstring: str) -> dict[str, str]:
    """What the part "Args:" of a docstring says about each argument."""
    _, _, args = docstring.partition("Args:\n")
    found: dict[str, str] = {}
    name = ""
    for line in textwrap.dedent(args).splitlines():
        begins = re.match(r"(\w+): (.*)", line)
        if begins:
            name = begins[1]
            found[name] = begins[2]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def field_sentences(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class, which Python itself does not keep."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for own, after in zip(body.body, body.body[1:], strict=False):
        match own, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                found[name] = " ".join(str(text).split())
    return found


def explanation_tables(
    function: Callable[..., object], given: Mapping[str, object], policies: object
) -> Iterator[Table]:
    """A table of the arguments of a function, and one of each policy."""
    yield explanation_table("settings", explained_arguments(function, given))
    for name, policy in policies_in("policies", policies):
        yield explanation_table(name, explained_fields(policy))


def policies_in(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The dataclasses in a dataclass, and those in them, by the names that lead to them."""
    for own in fields(value):  # type: ignore[arg-type]
        part = getattr(value, own.name)
        if is_dataclass(part):
            yield f"{name}.{own.name}", part
            yield from policies_in(f"{name}.{own.name}", part)


def explanation_table(title: str, settings: Iterator[Explained]) -> Table:
    """Settings in a table; those that are not the usual ones stand out."""
    table = Table(title=title, title_justify="left")
    table.add_column("setting", no_wrap=True)
    for name in ("value", "default", "what it is for"):
        table.add_column(name, overflow="fold")
    for own in settings:
        is_usual = repr(own.value) == repr(own.default)
        table.add_row(
            Text(own.name),
            Text(_shown(own.value), style="" if is_usual else "bold"),
            Text(_shown(own.default)),
            Text(own.sentence),
        )
    return table


def _default_of(own: Field[object]) -> object:
    if own.default is not MISSING:
        return own.default
    return own.default_factory() if own.default_factory is not MISSING else None


def _shown(value: object) -> str:
    """A value in a few letters; of several dataclasses their names, if they have some."""
    if isinstance(value, tuple) and value and all(hasattr(own, "name") for own in value):
        return ", ".join(str(own.name) for own in value)
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
