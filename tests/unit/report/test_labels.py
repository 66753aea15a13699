import numpy as np
import pandas as pd
import pytest
from support.selections import HOSTILE, make_dated, make_fit, make_table

from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.report.labels import labels_of, printable, told_candidate
from vbks.selection.selection import Selection


def of_years(x, name):
    data = prepare((pd.DataFrame({name: x}), np.sin(x)))
    return Selection((make_fit("SE", len(x)),), {Identity(): data}, feature_names=(name,))


def test_labels__of_dates_are_as_fine_as_the_rows():
    labels = labels_of(make_dated())
    assert labels.kinds == ("date",)
    assert labels.place(16467.0) == "2015-02"


@pytest.mark.parametrize(
    ("x", "name", "kind", "told"),
    [
        (np.arange(1950.0, 1990.0), "year", "year", "1960"),
        (np.arange(1950.0, 1990.0), "weight", "number", "1,960"),
        (np.arange(0.0, 40.0), "depth", "number", "1,960"),
    ],
)
def test_labels__know_years_by_their_name(x, name, kind, told):
    labels = labels_of(of_years(x, name))
    assert labels.kinds == (kind,)
    assert labels.place(1960.5).startswith(told)


@pytest.mark.parametrize(
    ("x", "told"),
    [
        (
            1958.0 + np.arange(30) / 12,
            {1958.0: "1958-01", 1958.0833: "1958-02", 1959.92: "1959-12"},
        ),
        (1610.5 + np.arange(30), {1610.5: "1610"}),
        (1950.0 + np.arange(30) / 4, {1950.25: "1950-04"}),
        (1950.0 + np.sort(np.random.default_rng(0).uniform(0, 9, 30)), {1950.25: "1950.25"}),
    ],
)
def test_labels__tell_years_as_finely_as_rows_are(x, told):
    labels = labels_of(of_years(x, "year"))
    assert {value: labels.place(value) for value in told} == told


def test_labels__tell_values_with_their_unit():
    labels = labels_of(make_dated(target_name="load (MW)"))
    assert (labels.target_name, labels.with_unit("3.1")) == ("load", "3.1 MW")
    plain = labels_of(make_dated())
    assert (plain.target_name, plain.with_unit("3.1")) == ("sold", "3.1")


def test_labels__without_names_are_counted():
    labels = labels_of(make_table(feature_names=None, target_name=None))
    assert labels.inputs == ("input 1", "input 2", "input 3")
    assert labels.target == "target"


def test_printable__has_nothing_that_steers():
    assert printable("a\tb\nc") == "a b c"
    assert printable("\x1b[31mred\u202e\u0000") == "[31mred"
    assert printable("größe (m²) – 長さ") == "größe (m²) – 長さ"
    assert "\x1b" not in printable(HOSTILE) and "<script>" in printable(HOSTILE)


def test_told_candidate__is_a_reading_under_its_own_warp():
    selection = make_dated()
    found = [told_candidate(fit, selection, labels_of(selection)) for fit in selection.fits]
    assert found[0] == selection.belief.set_index("expression")["reading"]["SE"]
    assert all(found) and not any("SE" in text for text in found)
