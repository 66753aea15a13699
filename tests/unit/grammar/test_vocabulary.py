import pytest

from vbks.errors import GrammarError
from vbks.grammar.vocabulary import Dims, vocabulary


@pytest.mark.parametrize(
    ("dims", "texts"),
    [
        (1, ["SE", "C", "LIN"]),
        (2, ["SE[1]", "SE[2]", "C", "LIN[1]", "LIN[2]"]),
        ((None, 3), ["SE", "SE[3]", "C", "LIN", "LIN[3]"]),
        ([3, 3], ["SE[3]", "C", "LIN[3]"]),
    ],
)
def test_vocabulary__is_every_family_on_every_input(dims: Dims, texts: list[str]) -> None:
    assert [str(leaf) for leaf in vocabulary(["SE", "C", "SE", "LIN"], dims)] == texts


@pytest.mark.parametrize(
    ("families", "dims", "message"),
    [
        (["RBF"], 1, "unknown family 'RBF'"),
        ("SE", 1, r"families are a list of names, such as \('SE',\), got 'SE'"),
        ([], 1, "at least one family and one input are needed"),
        (["SE"], [], "at least one family and one input are needed"),
        (["SE"], 0, "the number of inputs is from 1 to 1000000, got 0"),
        (["SE"], 2.5, "dims is a number of inputs or a list of them, got a value of type 'float'"),
        (["SE"], [0], "inputs are counted from 1"),
        (["SE"], ["x"], "the number of an input must be an int, got 'x'"),
        (["SE", "PER"], 150_000, "2 families on 150000 inputs are more than 200000 leaves"),
    ],
)
def test_vocabulary__refuses_what_makes_no_leaves(
    families: list[str], dims: Dims, message: str
) -> None:
    with pytest.raises(GrammarError, match=message):
        vocabulary(families, dims)
