import xml.etree.ElementTree as ElementTree

import numpy as np

from vbks.report.figures import svg

PLACES = np.array([0.0, 1.25, 2.0])


def read(markup):
    return ElementTree.fromstring(str(markup))


def test_element__escapes_attributes_and_texts():
    found = read(svg.text(1.0, 2.04, "<b>&\"'", class_="a", text_anchor="end", aria_label='"<x>'))
    assert found.text == "<b>&\"'"
    assert found.attrib == {
        "x": "1",
        "y": "2",
        "class": "a",
        "text-anchor": "end",
        "aria-label": '"<x>',
    }


def test_element__leaves_out_what_is_none():
    assert str(svg.element("rect", width=3, fill=None)) == '<rect width="3"></rect>'


def test_paths__go_through_every_point_to_a_tenth_of_a_pixel():
    assert read(svg.polyline(PLACES, PLACES + 1, "a")).get("d") == "M0 1L1.2 2.2L2 3"
    assert read(svg.dots(PLACES[:2], PLACES[:2], "a")).get("d") == "M0 0h0M1.2 1.2h0"
    band = read(svg.band(PLACES[:2], PLACES[:2], PLACES[:2] + 5, "a")).get("d")
    assert band == "M0 0L1.2 1.2L1.2 6.2L0 5Z"


def test_figure__says_what_it_shows():
    found = read(svg.figure((300, 200.5), "a <picture>", [svg.line(0, 0, 1, 1, "axis")]))
    assert found.get("role") == "img" and found.get("aria-label") == "a <picture>"
    assert found.get("viewBox") == "0 0 300 200.5"
    assert [child.tag for child in found] == ["line"]
