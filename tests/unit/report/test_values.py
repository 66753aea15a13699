import numpy as np

from vbks.report.values import numbers


def test_numbers__are_plain():
    found = numbers(np.array([[1], [2]]))
    assert found == (1.0, 2.0) and all(type(own) is float for own in found)
