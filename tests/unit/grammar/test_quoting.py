import pytest

from vbks.grammar.quoting import EXCERPT_REACH, LONGEST_WORD, excerpt, quote


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("RBF", "'RBF'"),
        (-3, "-3"),
        pytest.param(10**5000, "a value of type 'int'", id="huge"),
        (None, "a value of type 'NoneType'"),
        ("\udc80\n", r"'\udc80\n'"),
    ],
)
def test_quote__says_what_was_given(value: object, quoted: str) -> None:
    assert quote(value) == quoted


def test_quote__shortens_long_words() -> None:
    assert quote("A" * 1000) == repr("A" * (LONGEST_WORD - 1) + "…")


def test_excerpt__short_text_is_whole() -> None:
    assert excerpt("RBF * LIN", 0) == "'RBF * LIN'"


def test_excerpt__long_text_is_cut_on_both_sides() -> None:
    text = "a" * 100 + "!" + "b" * 100
    reach = EXCERPT_REACH
    assert excerpt(text, 100) == repr("…" + "a" * reach + "!" + "b" * (reach - 1) + "…")
