"""Tests of matching parts of two trees by their surroundings."""

import pytest

from vbks.kernels.layout import lay_out
from vbks.kernels.parts import IMPOSSIBLE, OTHER_SHAPE, Part, has_lengthscale, parts_of


def parts(text: str) -> list[Part]:
    return parts_of(lay_out(text, num_inputs=2).root)


def test_parts__are_leaves_and_changes_from_left_to_right() -> None:
    found = parts("CP[1](SE[1] * LIN[2], PER[1])")
    assert [part.kind for part in found] == [
        ("ChangePoint", 1), ("SE", 1), ("LIN", 2), ("PER", 1)
    ]  # fmt: skip
    assert found[1].companions == {"LIN[2]": 1}
    assert [list(part.sides.values()) for part in found[1:]] == [
        ["before ChangePoint[1]"], ["before ChangePoint[1]"], ["after ChangePoint[1]"]
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["SE + LIN * PER", "CP[1](SE, SE)", "SE * SE + SE"])
def test_likeness__of_a_part_to_itself_is_the_highest(text: str) -> None:
    found = parts(text)
    for own in found:
        assert own.likeness(own) == max(own.likeness(other) for other in found)
        assert own.likeness(own) > 0


def test_likeness__is_symmetric_and_low_for_other_kinds() -> None:
    se, ou, lin = parts("SE[1] + OU[1] + LIN[1]")
    assert se.likeness(ou) == ou.likeness(se) == OTHER_SHAPE
    assert se.likeness(lin) == lin.likeness(se) == IMPOSSIBLE
    (other,) = parts("SE[2]")
    assert se.likeness(other) == IMPOSSIBLE


def test_lengthscale__is_had_by_families_and_not_by_changes() -> None:
    assert has_lengthscale("SE")
    assert not has_lengthscale("LIN")
    assert not has_lengthscale("ChangePoint")
