from __future__ import annotations

import random

import numpy as np
import pytest
from support.reference import kernel_matrix
from support.rows import periodic_times_line
from support.strategies import random_expression

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.segments import Segment
from vbks.data.signals.summaries import summarise_inputs
from vbks.errors import DataError
from vbks.grammar.canonical import arrange
from vbks.grammar.moves import children
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.first_steps import start_scales
from vbks.kernels.starts.policy import StartPolicy
from vbks.kernels.starts.starts import (
    Parent,
    candidate_rng,
    draw_starts,
    long_to_short,
    start_names,
)

LINE = (InputSummary(-1.7, 1.7, 0.02, (0.3, 0.5, 0.15)),)


def layout_of(text: str, num_inputs: int = 1, ard: bool = True) -> Layout:
    return lay_out(parse(text), num_inputs, ard)


def starts_of(layout: Layout, num_starts: int = 4, parent: Parent | None = None) -> Array:
    summaries = LINE * layout.num_inputs
    return draw_starts(layout, summaries, num_starts, candidate_rng(0, layout.expression), parent)


def parent_of(text: str, num_inputs: int = 1) -> Parent:
    """A parent whose numbers all differ from each other and from any start."""
    layout = layout_of(text, num_inputs)
    return Parent(layout, 0.4321 + 0.01 * np.arange(len(layout)))


def is_within_bounds(layout: Layout, theta: Array) -> bool:
    distance = abs(theta - layout.prior_mean) / layout.prior_sd
    return bool((distance <= StartPolicy().clip_in_sds + 1e-9).all())


def values(layout: Layout, theta: Array, suffix: str) -> list[float]:
    return [float(v) for name, v in zip(layout.names, theta, strict=True) if suffix in name]


def test_summarise_inputs__of_a_constant_input_still_allows_starts() -> None:
    summaries = summarise_inputs(np.full((30, 1), 5.0), np.arange(30.0))
    theta = draw_starts(layout_of("CW[1](SE, PER) * LIN"), summaries, 5, np.random.default_rng(0))
    assert np.isfinite(theta).all()


def test_candidate_rng__depends_on_seed_and_text_alone() -> None:
    assert candidate_rng(3, parse("SE*PER")).integers(2**62) == 3825735753512520199
    assert candidate_rng(3, parse("SE * PER")).integers(2**62) == 3825735753512520199
    others = [candidate_rng(4, parse("SE * PER")), candidate_rng(3, parse("PER * SE"))]
    assert all(rng.integers(2**62) != 3825735753512520199 for rng in others)


def test_draw_starts__do_not_depend_on_the_order_of_candidates() -> None:
    forward = {e: starts_of(lay_out(e)) for e in K144[:40]}
    backward = {e: starts_of(lay_out(e)) for e in reversed(K144[:40])}
    for expression, theta in forward.items():
        np.testing.assert_array_equal(theta, backward[expression])


@pytest.mark.parametrize("seed", range(5))
def test_draw_starts__are_finite_within_bounds_and_differ(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        num_inputs, ard = rng.randint(1, 3), rng.random() < 0.7
        layout = lay_out(random_expression(rng, max_dim=num_inputs), num_inputs, ard)
        theta = starts_of(layout, 7)
        assert theta.shape == (7, len(layout))
        assert is_within_bounds(layout, theta)
        assert len(np.unique(theta, axis=0)) == 7


def test_draw_starts__stay_within_bounds_for_extreme_inputs() -> None:
    layout = layout_of("CP[1](SE, PER) * LIN")
    for summary in (InputSummary(-1e-9, 1e-9, 1e-15), InputSummary(-1e9, 1e9, 1e-3, (1e-12,))):
        theta = draw_starts(layout, (summary,), 6, np.random.default_rng(0))
        assert is_within_bounds(layout, theta)


def test_draw_starts__first_gives_the_strongest_periods_in_turn() -> None:
    layout = layout_of("PER + SE * PER0 + PER + PER")
    periods = np.exp(values(layout, starts_of(layout)[0], "period"))
    np.testing.assert_allclose(periods[:3], LINE[0].periods)


def test_draw_starts__first_gives_both_sides_of_a_change_the_strongest_period() -> None:
    layout = layout_of("CP[1](PER, PER + PER)")
    periods = np.exp(values(layout, starts_of(layout)[0], "period"))
    np.testing.assert_allclose(periods, [0.3, 0.3, 0.5])


def test_draw_starts__first_tells_equal_leaves_apart() -> None:
    layout = layout_of("SE + SE + SE * PER")
    lengthscales = values(layout, starts_of(layout)[0], "lengthscales")
    low, high = np.log(2 * LINE[0].spacing), np.log(LINE[0].range)
    assert len(set(lengthscales[:3])) == 3
    assert all(low <= value <= high for value in lengthscales[:3])
    assert lengthscales[2] == pytest.approx(np.log(LINE[0].range))


def test_draw_starts__often_take_periods_of_the_periodogram() -> None:
    layout = layout_of("PER")
    periods = np.exp(starts_of(layout, 200)[:, layout.names.index(".period")])
    shares = [np.isclose(periods, period).mean() for period in LINE[0].periods]
    assert sum(shares) > 0.6
    assert shares[0] > shares[2]


def test_draw_starts__of_a_leaf_on_several_inputs_are_longer() -> None:
    one, four = layout_of("SE[1]", 4), layout_of("SE", 4)
    ratio = values(four, starts_of(four)[0], "lengthscales")[0] - starts_of(one)[0, 2]
    assert ratio == pytest.approx(np.log(2.0))


def test_draw_starts__needs_a_summary_of_every_input() -> None:
    with pytest.raises(DataError, match=r"'SE' is laid out for 2 inputs, but 1 were summarised\."):
        draw_starts(layout_of("SE", 2), LINE, 3, np.random.default_rng(0))


def test_draw_starts__half_inherit_and_half_do_not() -> None:
    parent, child = parent_of("SE"), layout_of("SE + PER")
    theta = starts_of(child, 6, parent)
    inherited = [child.names.index(name) for name in (".noise", ".kernels[0].lengthscales")]
    np.testing.assert_array_equal(theta[:3, inherited], [[parent.theta[0], parent.theta[2]]] * 3)
    assert not np.isin(theta[3:], parent.theta).any()
    new = values(child, theta[1], "period") + values(child, theta[2], "period")
    assert not np.isin(new, parent.theta).any()


@pytest.mark.parametrize("num_starts", [0, 1, 2, 5])
def test_draw_starts__of_any_number_begin_with_heirs(num_starts: int) -> None:
    parent, child = parent_of("SE"), layout_of("SE + PER")
    theta = starts_of(child, num_starts, parent)
    is_heir = theta[:, 0] == parent.theta[0]
    assert is_heir.sum() == (num_starts + 1) // 2
    assert (np.diff(is_heir.astype(int)) <= 0).all()


def test_draw_starts__look_for_new_periods_in_the_residuals() -> None:
    parent = parent_of("PER")
    parent = Parent(parent.layout, parent.theta, (InputSummary(-1.7, 1.7, 0.02, (0.77,)),))
    child = layout_of("PER + PER")
    theta = starts_of(child, 4, parent)
    old, new = values(child, theta[0], "period")
    assert (old, new) == (parent.theta[3], pytest.approx(np.log(0.77)))
    assert values(child, theta[2], "period") == pytest.approx(np.log([0.3, 0.5]))


def test_draw_starts__look_for_waves_that_a_smooth_parent_hides() -> None:
    """The target has periods 0.3 and 0.5: what is left may show neither."""
    parent = parent_of("SE")
    parent = Parent(parent.layout, parent.theta, (InputSummary(-1.7, 1.7, 0.02, (0.77, 0.66)),))
    child = layout_of("SE + PER")
    theta = starts_of(child, 8, parent)
    found = [np.exp(values(child, row, "period")).item() for row in theta[[0, 1]]]
    assert found == pytest.approx([0.77, 0.3])


def test_draw_starts__do_not_look_again_for_a_wave_of_the_parent() -> None:
    """Nor does a new wave come after the old ones: it has the periods in the order found."""
    parent = parent_of("PER")
    theta = parent.theta.copy()
    theta[3] = np.log(0.301)
    parent = Parent(parent.layout, theta, (InputSummary(-1.7, 1.7, 0.02, (0.77,)),))
    child = layout_of("PER + PER")
    heirs = starts_of(child, 8, parent)[:2]
    old, new = np.exp([values(child, row, "period") for row in heirs]).T
    assert list(old) == pytest.approx([0.301, 0.301])
    assert list(new) == pytest.approx([0.77, 0.5])


@pytest.mark.parametrize(
    ("parent_text", "child_text", "places"),
    [
        ("SE + SE * PER", "PER * SE * LIN + SE", {0: 2, 1: 1, 3: 0}),
        ("SE * PER", "SE + PER * SE", {2: 0, 1: 1}),
        ("SE[1] + SE[2]", "SE[2] * PER[1] + SE[1]", {0: 1, 2: 0}),
        ("CP[1](SE, PER)", "CP[1](RQ + SE, PER * SE)", {1: 0, 2: 1}),
        ("CP[1](SE, SE)", "CP[1](SE * LIN, SE)", {0: 0, 2: 1}),
    ],
)
def test_draw_starts__inherit_what_leaves_have_in_common(
    parent_text: str, child_text: str, places: dict[int, int]
) -> None:
    """``places`` are leaves of the child, counted from the left, with their origins."""
    parent, child = parent_of(parent_text, 2), layout_of(child_text, 2)
    heir = starts_of(child, 2, parent)[0]
    child_leaves, parent_leaves = leaf_slots(child), leaf_slots(parent.layout)
    for place, origin in places.items():
        np.testing.assert_array_equal(
            heir[child_leaves[place]], parent.theta[parent_leaves[origin]]
        )
    fresh = [slot for i, slots in enumerate(child_leaves) if i not in places for slot in slots]
    assert not np.isin(heir[fresh], parent.theta).any()


def leaf_slots(layout: Layout) -> list[list[int]]:
    """The slots of each leaf from the left, without those of scales."""
    found: list[list[int]] = []
    nodes = [layout.root]
    while nodes:
        node = nodes.pop(0)
        nodes = [*node.operands, *nodes]
        if not node.operands:
            found.append([slot for slots in node.slots.values() for slot in slots])
    return found


def test_draw_starts__of_a_change_inherit_on_both_sides() -> None:
    parent, child = parent_of("SE * PER + SE"), layout_of("CP[1](SE * PER + SE, SE * PER + SE)")
    heir = starts_of(child, 2, parent)[0]
    before, after = np.array_split(np.concatenate(leaf_slots(child)), 2)
    expected = parent.theta[np.concatenate(leaf_slots(parent.layout))]
    np.testing.assert_array_equal(heir[before], expected)
    np.testing.assert_array_equal(heir[after], expected)


@pytest.mark.parametrize("seed", range(4))
def test_draw_starts__of_a_reordered_parent_give_its_kernel(seed: int) -> None:
    rng, X = random.Random(seed), np.random.default_rng(seed).normal(size=(5, 2))
    for _ in range(25):
        expression = random_expression(rng, max_leaves=6, max_dim=2)
        parent, child = lay_out(expression, 2), lay_out(arrange(expression), 2)
        theta = np.random.default_rng(seed).normal(0.0, 0.5, len(parent))
        heirs = starts_of(child, 2, Parent(parent, theta))
        assert heirs[1, 0] != theta[0]
        np.testing.assert_allclose(
            kernel_matrix(child, heirs[0], X, X[:1]),
            kernel_matrix(parent, theta, X, X[:1]),
            rtol=1e-9,
            err_msg=str(expression),
        )


def test_draw_starts__of_every_child_are_finite_and_begin_with_the_noise_of_the_parent() -> None:
    parent = parent_of("SE * (PER + LIN) + RQ")
    for expression in children(parent.layout.expression, dims=1):
        theta = starts_of(lay_out(expression), 4, parent)
        assert np.isfinite(theta).all()
        assert theta[0, 0] == parent.theta[0]


def test_draw_starts__keep_the_amplitude_of_a_term_that_gets_a_factor() -> None:
    parent, child = parent_of("PER"), layout_of("SE * PER")
    heir = starts_of(child, 2, parent)[0]
    assert heir[child.names.index(".kernels[0].variance")] == parent.theta[1]


def test_draw_starts__ignore_values_of_a_parent_that_failed() -> None:
    layout = layout_of("SE")
    broken = Parent(layout, np.full(len(layout), np.nan))
    assert np.isfinite(starts_of(layout_of("SE + PER"), 4, broken)).all()


def test_draw_starts__some_begin_where_the_target_crosses_zero() -> None:
    summaries = summarise_inputs(*periodic_times_line(1.1, 0.3))
    layout = lay_out("LIN * (PER + RQ)")
    starts = draw_starts(layout, summaries, 8, np.random.default_rng(0))
    location, period = (
        next(i for i, name in enumerate(layout.names) if name.endswith(end))
        for end in ("location", "period")
    )
    (first, periods), (second, others), *_ = summaries[0].crossings
    np.testing.assert_allclose(starts[[2, 3], location], [first, second])
    np.testing.assert_allclose(np.exp(starts[[2, 3], period]), [periods[0], others[0]])


def test_draw_starts__a_trend_of_its_own_does_not() -> None:
    summaries = summarise_inputs(*periodic_times_line(1.1, 0.3))
    layout = lay_out("LIN + PER")
    starts = draw_starts(layout, summaries, 8, np.random.default_rng(0))
    location = next(i for i, name in enumerate(layout.names) if name.endswith("location"))
    assert not np.isin(starts[:, location], [place for place, _ in summaries[0].crossings]).any()


def test_start_scales__are_small_for_lines_that_start_at_a_zero_crossing() -> None:
    summaries = summarise_inputs(*periodic_times_line(1.1, 0.3))
    layout = lay_out("LIN * SE")
    location = next(i for i, name in enumerate(layout.names) if name.endswith("location"))
    starts = np.zeros((2, len(layout)))
    starts[1, location] = summaries[0].crossings[0].place
    scales = start_scales(layout, summaries, starts)
    assert scales[1, location] < 0.2
    assert scales[0, location] == 1.0


def test_draw_starts__some_are_rougher() -> None:
    layout = lay_out("PER + SE")
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    place = next(i for i, name in enumerate(layout.names) if name == ".kernels[1].lengthscales")
    assert starts[4, place] == pytest.approx(starts[0, place] + np.log(0.2))
    assert starts[6, place] == pytest.approx(np.log(3 * 0.02))
    others = np.delete(np.arange(len(layout)), place)
    np.testing.assert_array_equal(starts[6, others], starts[0, others])


def test_draw_starts__the_very_rough_leaf_stands_alone_if_one_does() -> None:
    layout = lay_out("SE + PER * SE")
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    alone, beside = (
        layout.names.index(f".kernels[{k}].lengthscales") for k in ("0", "1].kernels[1")
    )
    assert starts[6, alone] == pytest.approx(np.log(3 * 0.02))
    assert starts[6, beside] == starts[0, beside]


def test_draw_starts__an_heir_gives_the_parents_noise_a_memory() -> None:
    parent, layout = parent_of("PER"), lay_out("PER + SE")
    suggested, rough = draw_starts(layout, LINE, 4, np.random.default_rng(0), parent)[:2]
    names = (".noise", ".kernels[1].variance", ".kernels[1].lengthscales")
    noise, variance, lengthscale = map(layout.names.index, names)
    assert rough[noise] == suggested[noise] == rough[variance] == parent.theta[0]
    assert rough[lengthscale] == pytest.approx(np.log(3 * 0.02))
    assert suggested[lengthscale] > rough[lengthscale]


def test_draw_starts__one_has_every_place_on_its_own_where_rows_repeat() -> None:
    summaries = (InputSummary(-1.0, 1.0, 0.2, repeats=8.0), InputSummary(-1.0, 1.0, 0.01))
    layout = lay_out("SE[1] + SE[2]", 2)
    starts = draw_starts(layout, summaries, 10, np.random.default_rng(0))
    places = [k for k, name in enumerate(layout.names) if "lengthscales" in name]
    coarse, fine = np.exp(starts[:, places]).T
    assert np.isclose(coarse.min(), 0.25 * 0.2)
    assert fine.min() > 0.01


CHANGING = (
    InputSummary(
        -1.7, 1.7, 0.02, changes=(0.4, -0.6), windows=(Segment(-1.0, -0.5), Segment(0.2, 0.6))
    ),
)


def test_draw_starts__changes_begin_where_the_data_show_some() -> None:
    layout = lay_out("CP[1](SE, PER)")
    starts = draw_starts(layout, CHANGING, 7, np.random.default_rng(0))
    place = layout.names.index(".location")
    np.testing.assert_allclose(starts[[0, 1, 3, 5], place], [0.4, -0.6, 0.4, -0.6])
    np.testing.assert_allclose(starts[[4, 6], place], 0.4)
    assert starts[2, place] not in (0.4, -0.6)


def test_draw_starts__windows_have_the_width_of_segments() -> None:
    layout = lay_out("CW[1](SE, C)")
    starts = draw_starts(layout, CHANGING, 4, np.random.default_rng(0))
    location, width = (layout.names.index(name) for name in (".location", ".width"))
    np.testing.assert_allclose(starts[[0, 1, 3], location], [-0.75, 0.4, -0.75])
    np.testing.assert_allclose(np.exp(starts[[0, 1, 3], width]), [0.5, 0.4, 0.5])


def test_draw_starts__two_changes_begin_at_different_places() -> None:
    layout = lay_out("CP[1](SE, CP[1](PER, C))")
    first = draw_starts(layout, CHANGING, 2, np.random.default_rng(0))[0]
    assert sorted(values(layout, first, "location")) == [-0.6, 0.4]


def test_draw_starts__heirs_know_changes_of_the_residuals_and_of_the_target() -> None:
    parent = parent_of("SE")
    residuals = (InputSummary(-1.7, 1.7, 0.02, changes=(1.1,)),)
    parent = Parent(parent.layout, parent.theta, residuals)
    layout = lay_out("CP[1](SE, SE)")
    starts = draw_starts(layout, CHANGING, 8, np.random.default_rng(0), parent)
    place = layout.names.index(".location")
    np.testing.assert_allclose(starts[[0, 1, 3], place], [1.1, 0.4, -0.6])


def test_start_scales__of_changes_are_small() -> None:
    layout = lay_out("CW[1](SE, C)")
    starts = draw_starts(layout, CHANGING, 2, np.random.default_rng(0))
    scales = start_scales(layout, CHANGING, starts)[0]
    assert scales[layout.names.index(".location")] == pytest.approx(0.05 * 3.4)
    assert scales[layout.names.index(".width")] == pytest.approx(0.05 * 3.4 / 0.5)


def test_draw_starts__one_goes_from_long_to_short_terms_of_a_sum() -> None:
    layout = lay_out("SE + SE + SE * PER")
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    names = [f".kernels[{k}].{name}" for name in ("lengthscales", "variance") for k in (0, 1)]
    long, short, large, small = map(layout.names.index, names)
    assert starts[7, long] == pytest.approx(np.log(LINE[0].range))
    assert starts[7, short] == pytest.approx(np.log(3 * 0.02))
    assert starts[7, large] == starts[0, large]
    assert starts[7, small] == pytest.approx(starts[0, small] - 4.0)
    others = np.delete(np.arange(len(layout)), [long, short, small])
    np.testing.assert_array_equal(starts[7, others], starts[0, others])


def test_long_to_short__is_that_start_and_none_without_two_such_terms() -> None:
    for text, num in (("SE + RQ + PER", 1), ("SE * PER + SE", 0), ("LIN + PER", 0)):
        layout = lay_out(text)
        found = long_to_short(layout, LINE, np.random.default_rng(0))
        starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
        np.testing.assert_array_equal(found, starts[7:][:num])


def test_long_to_short__has_a_rougher_start_where_terms_would_be_alike() -> None:
    layout = lay_out("SE + PER * (SE + SE)")
    found = long_to_short(layout, LINE, np.random.default_rng(0))
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    np.testing.assert_array_equal(found, starts[[7, 4]])
    x = LINE[0]
    long, short = values(layout, starts[4], "lengthscales")[2:]
    assert (long, short) == pytest.approx((np.log(0.2 * x.range), np.log(3 * x.spacing)))


def test_draw_starts__rougher_rational_quadratics_have_heavy_tails() -> None:
    layout = lay_out("RQ * LIN")
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    alpha = layout.names.index(".kernels[0].alpha")
    assert starts[4, alpha] == pytest.approx(np.log(0.05))


def test_draw_starts__one_has_several_line_factors_grow_from_before_the_data() -> None:
    layout = lay_out("(C + LIN) * (SE + LIN)")
    starts = draw_starts(layout, LINE, 8, np.random.default_rng(0))
    places = [k for k, name in enumerate(layout.names) if name.endswith("location")]
    x = LINE[0]
    expected = [x.low - 0.25 * x.range, x.low - 0.75 * x.range]
    np.testing.assert_allclose(starts[2, places], expected)


NAMES = (
    "from the data",
    "near the data",
    "drawn",
    "near the data",
    "rougher",
    "near the data",
    "noise with memory",
    "long to short",
    "drawn",
)


def test_start_names__tell_what_each_start_is() -> None:
    assert start_names(lay_out("SE + SE * PER + RQ"), LINE, 9) == NAMES
    plain = (*NAMES[:4], "drawn", "near the data", "drawn", "near the data")
    assert start_names(lay_out("PER"), LINE, 8) == plain
    assert start_names(lay_out("PER"), LINE, 0) == ()


def test_start_names__tell_of_lines_before_the_data_and_of_separate_places() -> None:
    assert start_names(lay_out("(C + LIN) * (SE + LIN)"), LINE, 3)[2] == "lines before the data"
    often = (InputSummary(-1.0, 1.0, 0.2, repeats=8.0),)
    assert start_names(lay_out("SE"), often, 9)[8] == "separate places"


def test_start_names__tell_of_zero_crossings() -> None:
    summaries = summarise_inputs(*periodic_times_line(1.1, 0.3))
    names = start_names(lay_out("LIN * (PER + RQ)"), summaries, 8)
    assert names == (
        "from the data",
        "near the data",
        "from the data, at zero crossings",
        "from the data, at zero crossings",
        "rougher",
        "near the data",
        "noise with memory, at zero crossings",
        "near the data, at zero crossings",
    )


def test_start_names__tell_what_is_inherited() -> None:
    names = start_names(lay_out("PER + SE"), LINE, 8, parent_of("PER"))
    assert names == (
        "inherited, from the data",
        "inherited, noise with memory",
        "inherited, drawn",
        "inherited, near the data",
        *NAMES[:4],
    )


@pytest.mark.parametrize("num", [0, 1, 3, 10])
@pytest.mark.parametrize("parent", [None, "SE", "SE + PER"])
def test_start_names__are_as_many_as_starts(num: int, parent: str | None) -> None:
    layout, known = lay_out("SE + PER"), None if parent is None else parent_of(parent)
    assert len(start_names(layout, LINE, num, known)) == num == len(starts_of(layout, num, known))
