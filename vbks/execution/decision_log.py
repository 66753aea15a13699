"""Decisions about time, which an interrupted run makes again as before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from vbks.storage.plain_file import read_plain, write_plain


class DecisionLog:
    """Decisions about how much to do in the time that is left, in the order they were made.

    They are kept in a file, if there is one, and made again as before, in each of several sections.
    With another budget, more may be done than was: decisions to end are made anew, and those in the
    sections after the first.
    """

    def __init__(
        self,
        file: Path | None = None,
        budget: Sequence[str] = (),
        writing: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.file, self.budget, self._writing = file, list(budget), writing
        self.sections: dict[str, list[int]] = {}
        self._before: dict[str, list[int]] = {}
        if file is not None and file.exists():
            record = read_plain(file)
            self._before = {name: record.counts(name) for name in record.texts("sections")}
            if list(record.texts("budget")) != self.budget:
                self._before = {
                    name: [num for num in counts if num]
                    for name, counts in list(self._before.items())[:1]
                }

    def decide(self, section: str, decide: Callable[[], int]) -> int:
        """The next decision of a section: the one that was made before, or a new one."""
        own, before = self.sections.setdefault(section, []), self._before.get(section, [])
        is_known = len(own) < len(before)
        own.append(before[len(own)] if is_known else decide())
        if not is_known and self.file is not None:
            kept = {"budget": self.budget, "sections": list(self.sections), **self.sections}
            with self._writing():
                write_plain(self.file, kept)
        return own[-1]
