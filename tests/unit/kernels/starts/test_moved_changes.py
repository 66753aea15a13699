from __future__ import annotations

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.moved_changes import moved_changes
from vbks.kernels.starts.policy import StartPolicy

PLACES = StartPolicy().num_change_places

LINE = (InputSummary(-1.7, 1.7, 0.02),)


def test_moved_changes__move_one_change_at_a_time_within_the_range() -> None:
    layout = lay_out("CW[1](SE, CP[1](SE, RQ))")
    theta = 0.1 * np.arange(len(layout))
    moved = moved_changes(layout, LINE, theta)
    assert moved.shape == (2, PLACES, len(layout))
    for change, names in zip(
        moved,
        (("location", "steepness", "width"), ("location", "steepness")),
        strict=True,
    ):
        differs = np.flatnonzero((change != theta).any(axis=0))
        assert [layout.slots[k].parameter.name for k in differs] == list(names)
        places = change[:, differs[0]]
        assert (np.diff(places) > 0).all()
        assert places.min() > LINE[0].low and places.max() < LINE[0].high


@pytest.mark.parametrize(("text", "fixed"), [("CW[1](SE, RQ)", ()), ("SE + PER", ())])
def test_moved_changes__are_none_without_several(text: str, fixed: tuple[int, ...]) -> None:
    layout = lay_out(text)
    assert moved_changes(layout, LINE, layout.prior_mean, fixed).shape == (0, PLACES, len(layout))


def test_moved_changes__leave_fixed_ones_where_they_are() -> None:
    layout = lay_out("CP[1](SE, CP[1](SE, CP[1](RQ, SE)))")
    first = layout.names.index(".location")
    moved = moved_changes(layout, LINE, layout.prior_mean, (first,))
    assert moved.shape[0] == 2
    assert (moved[..., first] == layout.prior_mean[first]).all()
