"""`vbks.load`: selections from the folders that they were saved to."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from vbks.selection.files import read_selection
from vbks.selection.record import SelectionRecord
from vbks.selection.selection import Selection
from vbks.selection.selections import Selections
from vbks.selection.several_files import is_several, read_several
from vbks.storage.folders import FolderPath


def load(folder: FolderPath) -> Selection:
    """The selection that was saved to a folder, or the `vbks.Selections` of several targets."""
    if not is_several(folder):
        return _selection(read_selection(folder))
    by_name, shared = read_several(folder)
    found = Selections({name: _selection(own) for name, own in by_name.items()}, shared)
    # Who saves selections of several targets knows that these come back.
    return cast(Selection, found)


def _selection(record: SelectionRecord) -> Selection:
    return Selection(**{own.name: getattr(record, own.name) for own in fields(SelectionRecord)})
