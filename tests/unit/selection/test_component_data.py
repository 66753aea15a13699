"""What pictures of parts show, against the parts themselves."""

import numpy as np
import pytest
from support.selections import make_dated, make_table

from vbks.errors import DataError
from vbks.selection.component_data import MOST_INPUTS, part_pictures


@pytest.fixture(scope="module")
def dated():
    return make_dated()


def test_pictures__have_the_parts_of_the_most_probable_warp(dated):
    found = part_pictures(dated)
    own = dated.components().main
    num = len(own.components) - own.num_base
    assert len(found.parts) == num and len(part_pictures(dated, num_parts=1).parts) == 1
    assert found.unit_name == "factor of sold" and found.target_name == "sold"
    for number, part in enumerate(found.parts):
        np.testing.assert_allclose(part.residuals, own.residuals(number + 1))
        (curve,) = part.curves
        assert curve.input_name == "month" and curve.band.shape == (len(curve.places), 3)
        assert own.components[number].reading in part.title


def test_partial_residuals__are_what_other_parts_leave(dated):
    found = part_pictures(dated, warp="identity")
    own = dated.components().of_warp("identity")
    (curve,) = found.parts[0].curves
    others = own.rows.means.sum(axis=0) - own.rows.means[0]
    np.testing.assert_allclose(curve.partial, own.rows.targets - others)


def test_last_fit__is_that_of_all_parts(dated):
    X = [[stamp] for stamp in np.array(["2018-07-01", "2017-03-01"], "datetime64[ns]")]
    found = part_pictures(dated, X)
    total = dated.components(sorted(X)).main.cumulative()
    np.testing.assert_allclose(found.parts[-1].fit[:, 1], total)
    assert list(found.parts[0].curves[0].places) == [np.datetime64(x[0]) for x in sorted(X)]
    assert found.end == np.datetime64("2018-04-01")


def test_several_inputs__have_a_curve_for_each_of_the_part():
    table = make_table()
    found = part_pictures(table)
    assert found.end is None
    (curve,) = found.parts[0].curves
    assert curve.input_name == "age" and curve.band[-1, 1] > curve.band[0, 1]
    assert found.parts[0].fit.shape == (50, 3)
    assert all(len(part.curves) <= MOST_INPUTS for part in found.parts)


def test_wrong_wishes__are_refused(dated):
    with pytest.raises(DataError, match="num_parts is 0, expected at least 1"):
        part_pictures(dated, num_parts=0)
    with pytest.raises(DataError, match="X can be drawn over one input, and there are 3"):
        part_pictures(make_table(), np.zeros((2, 3)))
    with pytest.raises(DataError, match="no kernel with the warp 'logit'"):
        part_pictures(dated, warp="logit")
