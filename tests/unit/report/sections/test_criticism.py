import re

import numpy as np
import pytest
from support.selections import make_dated


@pytest.fixture(scope="module")
def found():
    return make_dated().criticism()


def test_criticism__is_that_of_the_selection(dated, found):
    own = dated.criticism
    assert own.verdict == found.verdict and own.notices == found.notices == dated.warnings
    assert own.residuals.dots.y == pytest.approx(found.residuals["residual"])
    assert own.residuals.input == "month" and own.residuals.kind == "date"
    assert {c.sentence: c.p_value for c in own.checks} == {
        c.sentence: c.adjusted for c in found.checks
    }
    is_clear = [check.is_clear for check in own.checks]
    assert is_clear == sorted(is_clear)


def test_coverage__is_told_in_percent(dated, found):
    told = [int(n) for n in re.findall(r"(\d+) % lie", dated.criticism.coverage)]
    np.testing.assert_allclose(told, [100 * own.share for own in found.coverage], atol=0.5)


def test_criticism__of_rows_without_an_order_counts_them(table):
    assert table.criticism.residuals.input in ("row", "age")
    assert min(table.criticism.residuals.dots.x) >= 0.0
