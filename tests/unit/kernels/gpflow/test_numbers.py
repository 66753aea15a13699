import math

import gpflow
import numpy as np
import pytest
from gpflow.kernels import SquaredExponential

from vbks.errors import GrammarError
from vbks.grammar.parser import parse
from vbks.kernels.gpflow.numbers import (
    ONE,
    Number,
    Part,
    input_sizes,
    numbers_of,
    product_of,
    slot_numbers,
    sum_of,
)
from vbks.kernels.layout import lay_out


def scaled(text, variance, is_fixed=False):
    """A constant or a wave, with its scale."""
    zeros = {name: [Number(0.0, False)] for name in ("lengthscales", "period")}
    own = {} if text == "C" else zeros
    return Part(parse(text), (), own, Number(math.log(variance), is_fixed))


def scale(part):
    return math.exp(part.total.value)


def test_numbers__are_multiplied_as_logarithms_and_fixed_if_both_are():
    assert Number(1.0, True) * Number(2.0, True) == Number(3.0, True)
    assert Number(1.0, True) * Number(2.0, False) == Number(3.0, False)
    assert Number(1.0, False) * ONE == Number(1.0, False)


def test_total__of_sums_adds_and_of_products_multiplies():
    two, three, five = scaled("C", 2.0), scaled("PER", 3.0), scaled("C", 5.0)
    assert scale(sum_of([two, three])) == pytest.approx(2 + 3)
    assert scale(product_of([sum_of([two, three]), five])) == pytest.approx((2 + 3) * 5)


@pytest.mark.parametrize("text", ["PER", "PER + C", "PER * C", "(PER + C) * C"])
def test_part__times_a_number_has_a_total_times_it(text):
    parts = [scaled(part, 2.0 + i) for i, part in enumerate(("PER", "C", "C"))]
    part = {
        "PER": parts[0],
        "PER + C": sum_of(parts[:2]),
        "PER * C": product_of(parts[:2]),
        "(PER + C) * C": product_of([sum_of(parts[:2]), parts[2]]),
    }[text]
    assert scale(part * Number(math.log(7.0), True)) == pytest.approx(7.0 * scale(part))


def test_sum__merges_sums_and_keeps_products():
    inner = sum_of([scaled("C", 2.0), scaled("PER", 3.0)])
    product = product_of([scaled("C", 2.0), scaled("PER", 3.0)])
    whole = sum_of([inner, product, scaled("C", 1.0)])
    assert str(whole.expression) == "C + PER + C * PER + C"
    assert len(whole.operands) == 4
    assert sum_of([inner]) is inner


def test_sum__of_nothing_is_refused():
    with pytest.raises(GrammarError, match="a combination of no kernels"):
        sum_of([])


def test_slots__share_the_scale_of_a_product_of_sums():
    """2(C + 3 PER) · (5 C + 7 PER): the first sum has both variances, the second their odds."""
    first = sum_of([scaled("C", 2.0), scaled("PER", 6.0)])
    second = sum_of([scaled("C", 5.0, True), scaled("PER", 7.0, True)])
    part = product_of([first, second])
    layout = lay_out(part.expression)
    theta, fixed = np.zeros(len(layout)), np.zeros(len(layout), bool)
    for slot, number in slot_numbers(layout.root, part, ONE):
        theta[slot], fixed[slot] = number.value, number.is_fixed
    found = dict(zip(layout.names, theta, strict=True))
    assert found[".kernels[0].kernels[0].variance"] == pytest.approx(math.log(2.0 * (5 + 7)))
    assert found[".kernels[0].kernels[1].variance"] == pytest.approx(math.log(6.0 * (5 + 7)))
    assert found[".kernels[1].weights"] == pytest.approx(math.log(5 / 7))
    assert [n for n, held in zip(layout.names, fixed, strict=True) if held] == [
        ".kernels[1].weights"
    ]


def test_input_sizes__are_of_leaves_on_all_inputs():
    def wave(text, num):
        own = {name: [Number(0.0, False)] * num for name in ("lengthscales", "period")}
        return Part(parse(text), (), own)

    assert input_sizes(sum_of([wave("PER", 3), wave("PER[1]", 1)])) == {3}
    assert input_sizes(sum_of([wave("PER", 1), wave("PER", 2)])) == {1, 2}
    assert input_sizes(wave("PER[2]", 1)) == set()
    assert input_sizes(scaled("C", 1.0)) == set()


def test_numbers_of__a_parameter_are_logarithms_where_it_is_positive():
    kernel = SquaredExponential(2.0, [0.5, 4.0])
    gpflow.set_trainable(kernel.variance, False)
    (variance,) = numbers_of(kernel.variance, offset=math.log(3.0))
    assert variance.value == pytest.approx(math.log(6.0))
    assert variance.is_fixed
    lengthscales = numbers_of(kernel.lengthscales)
    assert [number.value for number in lengthscales] == pytest.approx([-math.log(2), math.log(4)])
    assert not any(number.is_fixed for number in lengthscales)
    (place,) = numbers_of(gpflow.Parameter(-0.3), positive=False)
    assert place.value == pytest.approx(-0.3)
