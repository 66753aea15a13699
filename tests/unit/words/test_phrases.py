import pytest

from vbks.words.phrases import (
    NounPhrase,
    listed,
    num_words,
    relative_clauses,
    sentence,
    with_article,
)


@pytest.mark.parametrize(
    "phrase, text",
    [
        ("smooth function", "a smooth function"),
        ("exponential factor", "an exponential factor"),
        ("hourly cycle", "an hourly cycle"),
        ("half-yearly cycle", "a half-yearly cycle"),
        ("11-year cycle", "an 11-year cycle"),
        ("110-year cycle", "a 110-year cycle"),
        ("uniform factor", "a uniform factor"),
        ("“x+” column", "a “x+” column"),
    ],
)
def test_with_article__is_as_it_sounds(phrase, text):
    assert with_article(phrase) == text


def test_listed__has_and_before_the_last():
    assert [listed("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_relative_clauses__say_everything_of_a_subject_at_once():
    clauses = [("shape", "changes"), ("amplitude", "grows"), ("shape", "depends on x")]
    expected = "whose shape changes and depends on x, and whose amplitude grows"
    assert relative_clauses(clauses) == expected


def test_noun_phrase__writes_its_modifiers_in_order():
    phrase = NounPhrase(
        "cycle",
        ("yearly",),
        "in month",
        attributes=("growing amplitude",),
        clauses=(("shape", "changes smoothly"),),
        modulators=("a weekly cycle",),
        applies="applies until 1645",
    )
    assert str(phrase) == (
        "a yearly cycle in month with growing amplitude, whose shape changes smoothly, "
        "modulated by a weekly cycle, which applies until 1645"
    )


def test_noun_phrase__has_no_article_of_what_is_not_counted():
    assert str(NounPhrase("noise", ("uncorrelated",), has_article=False)) == "uncorrelated noise"


def test_noun_phrase__has_commas_after_its_course():
    phrase = NounPhrase("function", course="that rises", attributes=("waves",))
    assert str(phrase) == "a function that rises, with waves"


def test_sentence__begins_and_ends_as_one():
    assert sentence("a constant") == "A constant."
    assert num_words("± 45 thousand, 13 %") == 5
