"""The texts of errors that more than one place raises."""

from __future__ import annotations

import pytest

from dovetail_base import errors
from dovetail_base.errors import integer_too_large


@pytest.mark.parametrize(
    ("value", "said"),
    [(2**40, "1099511627776"), (-(2**70), f"{-(2**70)}"), (10**5000, "of 16610 bits")],
    ids=["positive", "negative", "long"],
)
def test_an_integer_that_does_not_fit_is_named_or_measured(value, said):
    """Python refuses to write integers of many thousand digits."""
    text = str(integer_too_large(value, "int32"))
    assert text.startswith(f"the Python integer {said} does not fit into int32")
    assert "Enable 64-bit types" in text


def test_errors_are_caught_as_those_of_other_libraries_are():
    assert issubclass(errors.ConcretizationTypeError, errors.JAXTypeError)
    assert issubclass(errors.UnexpectedTracerError, errors.JAXTypeError)
    assert issubclass(errors.NonConcreteBooleanIndexError, errors.JAXIndexError)
    assert issubclass(errors.IRError, errors.JaxprTypeError)
    assert issubclass(errors.JaxRuntimeError, RuntimeError)
    assert issubclass(errors.JAXTypeError, TypeError)
    assert issubclass(errors.JAXIndexError, IndexError)


def test_values_that_are_not_known_have_a_base_and_are_not_each_other():
    """As in JAX: a program that catches ConcretizationTypeError sees no wrong integer."""
    needed = (errors.TracerIntegerConversionError, errors.TracerArrayConversionError)
    for error in needed:
        assert not issubclass(error, errors.ConcretizationTypeError)
        assert issubclass(error, errors.TracedValueError)
    assert issubclass(errors.TracerBoolConversionError, errors.ConcretizationTypeError)
    assert issubclass(errors.ConcretizationTypeError, errors.TracedValueError)
    assert issubclass(errors.TracedValueError, errors.JAXTypeError)
