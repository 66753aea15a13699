import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.strategies import expressions

from vbks.errors import GrammarError
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, LimitError
from vbks.grammar.parser import parse

SE, PER, LIN = Leaf("SE"), Leaf("PER"), Leaf("LIN")

PIECES = ["SE", "LIN[2]", "CP", "CW[3]", "(", ")", "[", "]", ",", "+", "*", "×", " ", "0", "12"]
PIECES += ["RBF", "C", "\n", "é", "\x00", "\udc80", "-", "'"]


def parsed_or_refused(text: object) -> None:
    try:
        expression = parse(text)  # type: ignore[arg-type]
    except GrammarError as error:
        assert len(str(error)) < 400
    else:
        assert isinstance(expression, Expression)
        assert parse(str(expression)) == expression


@given(expressions())
def test_parse__gives_back_what_was_printed(expression: Expression) -> None:
    assert parse(str(expression)) == expression
    assert parse(str(expression).encode()) == expression
    assert parse(str(expression).replace(" ", "").replace("*", "×")) == expression
    assert parse(f" ( {expression} )\n") == expression


def test_parse__expression_is_returned_as_it_is() -> None:
    expression = SE + PER
    assert parse(expression) is expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("SE*PER+LIN", SE * PER + LIN),
        ("SE + PER * LIN", SE + PER * LIN),
        ("SE × (PER + LIN)", SE * (PER + LIN)),
        ("(SE + PER) + LIN", SE + PER + LIN),
        ("SE * (PER * LIN)", SE * PER * LIN),
        ("((SE))", SE),
        ("SE [ 2 ]", Leaf("SE", 2)),
        ("SE[007]", Leaf("SE", 7)),
        ("CP(SE, LIN)", ChangePoint(SE, LIN)),
        ("CW[2](SE + PER, LIN) * SE", ChangeWindow(SE + PER, LIN, 2) * SE),
        ("CP(CP(SE, PER), (LIN))", ChangePoint(ChangePoint(SE, PER), LIN)),
    ],
)
def test_parse__reads_the_grammar(text: str, expression: Expression) -> None:
    assert parse(text) == expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "RBF * LIN",
            "unknown family 'RBF' in 'RBF * LIN' (column 1). "
            "Known: C, LIN, M32, M52, OU, PER, PER0, RQ, SE, WN.",
        ),
        ("SE *", "expected a kernel after '*' in 'SE *' (column 5), found the end."),
        ("", "expected a kernel in '' (column 1), found the end."),
        (
            "SE x PER",
            "expected '+', '*' or the end after 'SE' in 'SE x PER' (column 4), found 'x'.",
        ),
        ("(SE", "expected '+', '*' or ')' after 'SE' in '(SE' (column 4), found the end."),
        ("SE)", "expected '+', '*' or the end after 'SE' in 'SE)' (column 3), found ')'."),
        ("()", "expected a kernel after '(' in '()' (column 2), found ')'."),
        ("CP(SE)", "expected '+', '*' or ',' after 'SE' in 'CP(SE)' (column 6), found ')'."),
        ("CP(C,C,C)", "expected '+', '*' or ')' after 'C' in 'CP(C,C,C)' (column 7), found ','."),
        ("CP + SE", "expected '(' after 'CP' in 'CP + SE' (column 4), found '+'."),
        ("SE[", "expected the number of an input after '[' in 'SE[' (column 4), found the end."),
        ("SE[-1]", "expected the number of an input after '[' in 'SE[-1]' (column 4), found '-'."),
        ("SE[2", "expected ']' after '2' in 'SE[2' (column 5), found the end."),
        ("SE[0]", "inputs are counted from 1 to 1000000, got '0' in 'SE[0]' (column 4)."),
        ("SE[1000001]", "inputs are counted from 1 to 1000000, got '1000001' in"),
        ("CW[0](SE, C)", "inputs are counted from 1 to 1000000, got '0' in"),
        (b"SE + \xff", "byte 6 of the text is not UTF-8."),
        (5, "expected a text or an Expression, got 5."),
        (None, "expected a text or an Expression, got a value of type 'NoneType'."),
    ],
)
def test_parse__says_what_was_wrong_and_where(text: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_parse__long_texts_are_quoted_around_the_place() -> None:
    text = "SE + " * 1000 + "RBF" + " + SE" * 1000
    with pytest.raises(GrammarError, match=r"'RBF' in '….*RBF.*…' \(column 5001\)") as caught:
        parse(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("length", [8, 20, 9_990])
@pytest.mark.parametrize("digit", ["0", "9"])
def test_parse__numbers_of_any_length_are_refused_clearly(digit: str, length: int) -> None:
    with pytest.raises(GrammarError, match="inputs are counted from 1 to 1000000"):
        parse(f"SE[{digit * length}]")


@given(st.text())
@example("SE\u2028+\u00a0SE")
def test_parse__survives_any_text(text: str) -> None:
    parsed_or_refused(text)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_parse__survives_texts_that_look_like_expressions(text: str) -> None:
    parsed_or_refused(text)


@given(st.binary())
def test_parse__survives_any_bytes(text: bytes) -> None:
    parsed_or_refused(text)
    parsed_or_refused(bytearray(text))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers(),
        lambda values: st.lists(values) | st.dictionaries(st.text(), values) | st.sets(st.text()),
    )
)
@example(object())
@example(Expression)
@example(memoryview(b"SE"))
def test_parse__refuses_any_other_object(value: object) -> None:
    with pytest.raises(GrammarError, match="expected a text or an Expression, got "):
        parse(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", [*PIECES, "SE+", "SE*", "(SE)", "+ "], ids=ascii)
def test_parse__survives_ten_thousand_characters(piece: str) -> None:
    parsed_or_refused(piece * (10_000 // len(piece)))


@pytest.mark.parametrize("seed", range(10))
def test_parse__survives_ten_thousand_characters_of_all_kinds(seed: int) -> None:
    rng = random.Random(seed)
    parsed_or_refused("".join(chr(rng.randrange(0x3000)) for _ in range(10_000)))
    parsed_or_refused("".join(rng.choices(PIECES, k=6_000)))
    parsed_or_refused("+".join(rng.choices(["SE", "LIN[2]*PER", "(C+WN)"], k=2_000)))


@pytest.mark.parametrize("operator", ["+", "*"])
@pytest.mark.parametrize("depth", [1_000, 3_000])
def test_parse__brackets_that_mean_nothing_may_be_deep(operator: str, depth: int) -> None:
    flat = parse(operator.join(["SE", *["PER"] * depth]))
    assert parse("(" * depth + "SE" + f"{operator}PER)" * depth) == flat
    assert parse(f"(SE{operator}" + f"(PER{operator}" * (depth - 1) + "PER" + ")" * depth) == flat
    assert parse("(" * depth + "SE" + ")" * depth) == SE


@pytest.mark.parametrize("depth", [1_000, 3_000])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SE*(SE+", ")"),
        ("(", "*SE+SE)"),
        ("CP(", ",SE)"),
        ("CW[2](SE,", ")"),
        ("CP(SE,SE*CW(SE+", ",C))"),
    ],
)
def test_parse__nesting_that_means_something_is_limited(
    before: str, after: str, depth: int
) -> None:
    with pytest.raises(LimitError, match=r"at most 64 levels, this one 65, in .* \(column "):
        parse(before * depth + "SE" + after * depth)


@pytest.mark.parametrize("before", ["(", "CP(", "CW[2](SE,", "SE[", "SE*(SE+("])
def test_parse__brackets_never_closed_are_refused(before: str) -> None:
    with pytest.raises(GrammarError, match="found"):
        parse(before * 3_000)
    with pytest.raises(GrammarError, match="found"):
        parse(before * 1_000 + "SE")


def test_parse__time_grows_with_the_length_of_the_text() -> None:
    depth = 20_000
    texts = ["(" * depth + "SE" + "+SE)" * depth, "(SE+" * depth + "SE" + ")" * depth]
    start = time.perf_counter()
    for text in texts:
        assert len(str(parse(text))) == 5 * depth + 2
    # Merging brackets one into the next would copy 200 million operands and take minutes.
    assert time.perf_counter() - start < 10
