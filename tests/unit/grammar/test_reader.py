"""Tests of reading a text word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbks.errors import GrammarError
from vbks.grammar.reader import END, Reader

WORDS = st.lists(st.sampled_from(["SE", "PER0", "12", "+", "*", "(", ")", "[", "§"]), max_size=8)


def all_words(text: str) -> list[str]:
    reader = Reader(text)
    found = []
    while reader.word.text != END:
        found.append(reader.take())
    return found


@given(WORDS, st.sampled_from([" ", "  ", "\t", " \n"]))
def test_words__come_back_one_by_one_whatever_is_between_them(words: list[str], gap: str) -> None:
    assert all_words(gap.join(["", *words, ""])) == words


def test_words__have_kinds_and_positions() -> None:
    reader = Reader(" SE1 +23")
    assert reader.word == ("name", "SE1", 1)
    reader.take()
    assert reader.word == ("sign", "+", 5)
    reader.take()
    assert reader.word == ("number", "23", 6)
    reader.take()
    assert reader.word == (None, END, 8)


def test_skip__takes_a_sign_only_where_it_stands() -> None:
    reader = Reader("( SE")
    assert not reader.skip(")")
    assert reader.skip("(")
    assert reader.take() == "SE"


def test_require__says_what_was_expected_and_found_and_where() -> None:
    reader = Reader("SE LIN")
    reader.take()
    with pytest.raises(
        GrammarError, match=r"expected '\)' after 'SE' in .* \(column 4\), found 'LI"
    ):
        reader.require(")")
    reader.take()
    with pytest.raises(GrammarError, match=r"found the end\."):
        reader.require(")")
