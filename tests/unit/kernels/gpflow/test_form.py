import math

import gpflow
import pytest
from gpflow.kernels import Matern12, Matern32, Periodic, SquaredExponential

from vbks.kernels.gpflow.form import BY_FORMULA, GPflowForm, owner_of

PERIODIC = GPflowForm(Periodic, base=SquaredExponential, factors=(("lengthscales", 0.5),))


class Derived(SquaredExponential):
    """A class that may compute anything."""


def test_form__makes_the_class_on_its_base():
    kernel = PERIODIC.make()
    assert type(kernel) is Periodic
    assert type(kernel.base_kernel) is SquaredExponential
    assert type(GPflowForm(Matern32).make()) is Matern32


def test_form__is_read_from_its_classes_and_none_derived_from_them():
    form = GPflowForm(SquaredExponential, read=(Matern12,))
    assert form.is_read_from(SquaredExponential(), 3)
    assert form.is_read_from(Matern12(), 3)
    assert not form.is_read_from(Derived(), 3)
    assert not form.is_read_from(Matern32(), 3)


def test_form__is_read_only_with_its_base():
    assert PERIODIC.is_read_from(Periodic(SquaredExponential()), 2)
    assert not PERIODIC.is_read_from(Periodic(Matern32()), 2)
    assert not PERIODIC.is_read_from(Periodic(Derived()), 2)


def test_form__of_one_input_is_not_read_on_two():
    form = GPflowForm(read=(Matern12,), only_one_input=True)
    assert form.is_read_from(Matern12(), 1)
    assert not form.is_read_from(Matern12(), 2)


def test_formula_alone__is_read_from_no_kernel():
    assert not BY_FORMULA.is_read_from(SquaredExponential(), 1)


def test_offset__is_the_logarithm_of_the_factor():
    assert PERIODIC.offset_of("lengthscales") == pytest.approx(math.log(0.5))
    assert PERIODIC.offset_of("period") == 0.0


def test_owner__is_the_kernel_that_holds_the_parameter():
    kernel = Periodic(SquaredExponential())
    assert owner_of(kernel, "period") is kernel
    assert owner_of(kernel, "lengthscales") is kernel.base_kernel
    line = gpflow.kernels.Linear()
    assert owner_of(line, "location") is line
