import re
from itertools import pairwise

import pytest

from vbks.report.figures.frame import NARROW, WIDE, Axis, frame, shortened


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("high", [1.0, 1e6, 123456.0])
def test_frame__keeps_every_label_inside(size, high):
    found = frame(size, Axis("a long name of a column " * 9, 0.0, 5000.0), Axis("y", -high, high))
    pattern = r'<text x="([-\d.]+)" y="([-\d.]+)" ?(?:text-anchor="(\w+)")?[^>]*>([^<]*)<'
    texts = re.findall(pattern, str(found.background))
    assert len(texts) > 6
    for x, y, anchor, label in texts:
        width = 6.6 * len(label)
        left = float(x) - {"end": width, "middle": width / 2}.get(anchor, 0.0)
        assert left >= -7.0 and left + width <= size.width + 7.0, label
        assert 0 < float(y) <= size.height
    assert 0 < found.x.start < found.x.end < size.width
    assert found.y.start > found.y.end


def test_frame__has_no_two_labels_of_an_axis_over_each_other():
    found = frame(NARROW, Axis("x", 0.0, 123456.0), Axis("y", 0.0, 1.0))
    bottom = NARROW.height - 23
    places = [
        (float(x), len(label))
        for x, y, label in re.findall(
            r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle"[^>]*>([^<]*)<',
            str(found.background),
        )
        if float(y) == bottom
    ]
    assert len(places) >= 2
    for (x, n), (other, m) in pairwise(places):
        assert x + 3.3 * n < other - 3.3 * m


def test_shortened__says_that_something_is_missing():
    assert shortened("strength", 300) == "strength"
    assert shortened("strength", 36) == "stre…"
