import pytest

from vbks.words.sureness import adverb


@pytest.mark.parametrize(
    "probability, word",
    [
        (1.0, "almost certainly"),
        (0.991, "almost certainly"),
        (0.99, "very likely"),
        (0.901, "very likely"),
        (0.9, "probably"),
        (0.661, "probably"),
        (0.66, "possibly"),
        (0.0, "possibly"),
    ],
)
def test_adverb__changes_above_its_levels(probability, word):
    assert adverb(probability) == word
