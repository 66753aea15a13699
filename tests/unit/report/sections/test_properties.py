import numpy as np
import pytest
from support.selections import make_dated, make_table


def test_properties__are_those_of_the_selection(dated):
    found = make_dated().properties()
    rows = dated.properties.rows
    assert [row.name for row in rows] == ["cycle", "trend", "swings", "change", "noise"]
    for row in rows:
        own = getattr(found, row.name)
        assert (row.sentence, row.probability) == (own.sentence, pytest.approx(own.probability))
    assert dated.properties.inputs == dated.properties.pairs == ()


def test_properties__of_several_inputs_begin_with_what_matters(table):
    found = make_table().properties()
    shares = {own.sentence: own.share for own in found.inputs}
    told = [shares[row.sentence] for row in table.properties.inputs]
    assert told == sorted(shares.values(), reverse=True)
    assert table.properties.inputs[0].sentence.startswith("Age")
    assert all(row.probability >= 0.1 for row in table.properties.pairs)
    assert all(row.probability >= 0.5 for row in table.properties.rows)


def test_properties__have_densities_that_are_probable(dated):
    for row in dated.properties.rows:
        if row.likely is not None:
            assert row.probability >= 0.5
            area = np.trapezoid(row.likely.density, row.likely.x)
            assert area == pytest.approx(1.0, abs=0.05)
