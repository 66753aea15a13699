import pytest

from vbks.words.axes import Axes, Axis, axes_of, readable_name


def test_name__is_the_columns_or_says_which_input_it_is():
    axes = Axes((Axis("blast_furnace_slag"), Axis(), Axis(is_time=True)))
    assert [axes.name(number) for number in (1, 2, 3)] == ["blast furnace slag", "input 2", "time"]
    assert Axes().name(1) == "the input"
    assert Axes().name(7) == "input 7"


def test_names__are_listed_up_to_three():
    axes = axes_of(("a1", "b1", "c1", "d1"))
    assert axes.names((1,)) == "a1"
    assert axes.names((1, 2, 3)) == "a1, b1 and c1"
    assert axes.names((1, 2, 3, 4)) == "four inputs"


def test_is_obvious__of_the_only_input_if_it_is_time_or_has_no_name():
    assert Axes().is_obvious(1) and axes_of(["month"]).is_obvious(1)
    assert not axes_of(["age"]).is_obvious(1)
    assert not axes_of(["month", "age"]).is_obvious(1)


def test_axes_of__knows_time_by_its_name():
    axes = axes_of(["age", "Month"])
    assert [axis.is_time for axis in axes.inputs] == [False, True]
    assert axes.main == 2 and axes.tells_time(2) and not axes.tells_time(1)
    assert axes_of(axes) is axes
    assert axes_of(()) == Axes()


def test_range__is_known_with_both_ends():
    assert Axis(low=2.0, high=5.0).range == 3.0
    assert Axis(low=2.0).range is None


@pytest.mark.parametrize(
    "name, readable",
    [
        ("blast_furnace_slag", "blast furnace slag"),
        ("  load \n now ", "load now"),
        ("the number of people who came", "the number of people…"),
        ("load (MW)", "“load MW”"),
        ("SE * PER[1]", "“SE PER1”"),
        ("<b>x</b>", "“<b>x</b>”"),
        ("", ""),
        ("([{", ""),
    ],
)
def test_readable_name__is_short_and_in_quotes_if_it_is_not_plain_words(name, readable):
    assert readable_name(name) == readable
