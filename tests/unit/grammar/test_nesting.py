from vbks.grammar.canonical import arrange
from vbks.grammar.nesting import special_cases
from vbks.grammar.parser import parse


def texts(expression: str) -> set[str]:
    return {str(case) for case in special_cases(expression)}


def arranged(*expressions: str) -> set[str]:
    return {str(arrange(parse(text))) for text in expressions}


def test_special_cases__leave_out_a_leaf_or_have_se_for_rq() -> None:
    assert texts("LIN * (PER + RQ)") == arranged(
        "PER + RQ", "LIN * PER", "LIN * RQ", "LIN * (PER + SE)"
    )
    assert texts("SE + SE") == {"SE"}
    assert texts("RQ") == {"SE"}
    assert texts("RQ[2]") == {"SE[2]"}
    assert texts("SE") == set()


def test_special_cases__keep_both_sides_of_a_change() -> None:
    assert texts("CP(SE + LIN, RQ)") == arranged("CP(SE, RQ)", "CP(LIN, RQ)", "CP(SE + LIN, SE)")


def test_special_cases__do_not_depend_on_the_order() -> None:
    assert texts("SE * PER + RQ") == texts("RQ + PER * SE")
