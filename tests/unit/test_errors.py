"""Tests of the errors that vbks raises on purpose."""

import inspect

import pytest

from vbks import errors
from vbks.errors import VbksError, check_one_of

RAISED = [
    own
    for _, own in inspect.getmembers(errors, inspect.isclass)
    if own.__name__.endswith("Error") and own.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", RAISED, ids=lambda own: own.__name__)
def test_errors__are_caught_by_one_except_clause(error: type[Exception]) -> None:
    assert issubclass(error, VbksError)


def test_check_one_of__lists_what_is_known() -> None:
    check_one_of("size", "small", ("small", "large"))
    with pytest.raises(VbksError, match="size is 'huge', expected one of small, large"):
        check_one_of("size", "huge", ("small", "large"))
