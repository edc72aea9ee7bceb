"""Numbers as text and back, to the last bit."""

from __future__ import annotations

import re
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from dovetail_text.numerals import NUMERAL, number_text, number_value

FLOATS = [
    np.float16,
    np.float32,
    np.float64,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]


def bits(x):
    return np.asarray(x).tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_every_bit_pattern_of_a_float_survives(dtype, data):
    dt = np.dtype(dtype)
    x = np.frombuffer(data.draw(st.binary(min_size=dt.itemsize, max_size=dt.itemsize)), dt)[0]
    text = number_text(x)
    assert bits(number_value(text, dt)) == bits(x)
    assert re.fullmatch(NUMERAL, text)


@given(st.complex_numbers(allow_nan=True, allow_infinity=True))
def test_complex_numbers(x):
    for y, dtype in ((x, None), (np.complex128(x), np.complex128)):
        text = number_text(y)
        again = number_value(text, dtype)
        assert type(again) is type(y) and bits(again) == bits(y)
        assert re.fullmatch(NUMERAL, text)


@given(st.integers() | st.booleans() | st.floats())
def test_python_scalars_keep_their_class(x):
    again = number_value(number_text(x))
    assert type(again) is type(x)
    assert again == x if isinstance(x, int) else bits(again) == bits(x)


def test_nan_payloads_and_signs():
    odd = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    assert number_text(odd) == "nan(0xfff8000000000001)"
    assert struct.pack("<d", number_value(number_text(odd))) == struct.pack("<d", odd)
    minus = np.uint32(0xFFC00000).view(np.float32)
    assert number_text(minus) == "nan(0xffc00000)" and number_text(np.float32("nan")) == "nan"


def test_the_fewest_digits_are_written():
    assert number_text(np.float32(0.1)) == "0.1"
    assert number_text(ml_dtypes.bfloat16(0.1)) == "0.1"
    assert number_text(np.float32(1e20)) == "1e+20"
    assert number_text(np.float16(65504)) == "65500.0"
    assert number_text(np.float64(0.1) + np.float64(0.2)) == "0.30000000000000004"


def test_integers_of_any_width():
    assert number_text(10**40) == "1" + "0" * 40 and number_value("-5") == -5
    assert number_text(ml_dtypes.int4(-3)) == "-3" and number_value("-3", ml_dtypes.int4) == -3
    assert number_value("200", np.uint8) == np.uint8(200)


@pytest.mark.parametrize(
    ("text", "dtype"), [("300", np.int8), ("1.5", np.int32), ("1.0", np.complex64), ("x", None)]
)
def test_numbers_that_do_not_fit_their_type(text, dtype):
    with pytest.raises((ValueError, OverflowError)):
        number_value(text, dtype)
