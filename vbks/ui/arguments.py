"""What is wrong with the arguments of a command, in one line."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

EXPECTED = {
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "greater_than_equal": "at least {ge:g}",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "at most {le:g}",
    "less_than": "less than {lt:g}",
}
"""What is expected, by the kinds of mistakes that the reader of arguments knows."""


def about_arguments(error: Exception, commands: Collection[str]) -> str:
    """Which argument is wrong, what it is and what it should be, and where that is explained."""
    text = _about_value(error) or _sentence(error)
    return f"{text}. See {_command(error, commands)} --help."


def _about_value(error: Exception) -> str:
    """An option with its value and what is expected, if that is what is wrong."""
    reader = getattr(error.__cause__, "errors", None)
    option = getattr(error, "param", None)
    found: dict[str, Any] = reader()[0] if callable(reader) else {}
    expected = EXPECTED.get(found.get("type", ""))
    if option is None or expected is None:
        return ""
    name = next((own for own in option.opts if own.startswith("--")), option.name)
    words = expected.format(**found.get("ctx", {}))
    return f"{name} is {str(found['input'])!r}, expected {words}"


def _sentence(error: Exception) -> str:
    """What the reader of arguments says."""
    text = error.format_message()  # type: ignore[attr-defined]
    text = " ".join(text.replace("Value error, ", "").split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}"


def _command(error: Exception, commands: Collection[str]) -> str:
    """The command whose arguments are wrong, as far as that is known."""
    context = getattr(error, "ctx", None)
    if context is not None:
        return str(context.command_path)
    given = sys.argv[1:2]
    return f"vbks {given[0]}" if given and given[0] in commands else "vbks"
