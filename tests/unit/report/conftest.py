"""Reports of selections made by hand, computed once for all tests that read them."""

import pytest
from support.selections import HOSTILE, make_dated, make_table

from vbks.report import report_of


@pytest.fixture(scope="package")
def dated():
    return report_of(make_dated())


@pytest.fixture(scope="package")
def hostile():
    """A report of columns with a name that would do harm if it were not escaped."""
    made = make_dated(feature_names=(HOSTILE,), target_name=HOSTILE, notices=(HOSTILE,))
    return report_of(made)


@pytest.fixture(scope="package")
def table():
    return report_of(make_table())
