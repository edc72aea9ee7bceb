"""Arrays as NumPy arrays and Python scalars."""

from __future__ import annotations

import math
from operator import index

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import device_put, value_of


def test_numpy(value):
    x = device_put(value)
    for result in (np.asarray(x), value_of(x), x.__array__()):
        assert result.dtype == value.dtype and not result.flags.writeable
        np.testing.assert_array_equal(result.astype(np.complex64), value.astype(np.complex64))


def test_numpy_copies(value):
    x = device_put(value)
    for result in (np.array(x), np.asarray(x, copy=True), x.__array__(copy=True)):
        assert result.flags.writeable
        result[...] = 1
    assert x.tolist() == value.tolist()


def test_numpy_conversion(put):
    assert np.asarray(put([1.5, 2.5]), np.int32).tolist() == [1, 2]
    half = device_put(np.ones(2, ml_dtypes.bfloat16))
    assert np.asarray(half, np.float32).dtype == np.float32
    with pytest.raises(ValueError, match=r"bf16\[2\] cannot become a NumPy array of dtype float64"):
        np.asarray(half, np.float64, copy=False)


def test_elements(put):
    x = put([[1, 2], [3, 4]])
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert x.item(3) == x.item(1, 1) == x.item((1, 1)) == x.item(-1) == 4.0
    assert put([[7]]).item() == 7.0
    assert x.tobytes() == np.asarray(x).tobytes()
    assert x.tobytes("F") == np.asarray(x).tobytes("F")


def test_scalars(put):
    x = put(2.5)
    assert (float(x), int(x), complex(x), bool(x)) == (2.5, 2, 2.5 + 0j, True)
    assert math.sqrt(put(4)) == 2.0
    assert [10, 20, 30][put(1, np.int32)] == 20
    assert list(range(put(3, np.uint8))) == [0, 1, 2]
    assert complex(put(1 + 2j, np.complex64)) == 1 + 2j
    assert float(device_put(np.asarray(1.5, ml_dtypes.bfloat16))) == 1.5
    assert index(device_put(np.asarray(3, ml_dtypes.int4))) == 3
    assert bool(put([[0.0]])) is False


@pytest.mark.parametrize("convert", [float, int, complex])
def test_only_scalars_are_numbers(put, convert):
    text = rf"f32\[2,3\] is converted to a Python {convert.__name__} at .*test_values.*x\.sum\(\)"
    with pytest.raises(TypeError, match=text):
        convert(put(np.ones((2, 3))))
    with pytest.raises(TypeError, match="only an array without dimensions is one number"):
        convert(put([1]))


@pytest.mark.parametrize("convert", [float, int])
def test_complex_is_no_real_number(put, convert):
    with pytest.raises(TypeError, match=r"c64\[\].* take its real part first"):
        convert(put(1j, np.complex64))


def test_not_a_number_is_no_integer(put):
    with pytest.raises(ValueError, match="NaN"):
        int(put(math.nan))


@pytest.mark.parametrize(
    ("bad", "dtype"), [(1.0, np.float32), (True, np.bool_), ([1], np.int32), (1j, np.complex64)]
)
def test_only_integers_are_indices(put, bad, dtype):
    with pytest.raises(TypeError, match=r"used as a Python integer at .*only an integer array"):
        index(put(bad, dtype))


def test_only_one_element_is_a_condition(put):
    with pytest.raises(ValueError, match=r"f32\[2\] is used as a Python condition at .*x\.any\(\)"):
        bool(put([1, 2]))
    with pytest.raises(ValueError, match=r"it has no element.*x\.size > 0"):
        bool(put([]))


def test_item_needs_one_element_or_an_index(put):
    with pytest.raises(ValueError, match=r"item\(\) of an array of type f32\[2\].*x\.item\(0\)"):
        put([1, 2]).item()
    with pytest.raises(IndexError, match="out of bounds"):
        put([1, 2]).item(2)


def test_numpy_functions_take_arrays(put):
    x = put([1, 2])
    assert type(np.sin(x)) is np.ndarray
    np.testing.assert_array_equal(np.add(np.ones(2), x), [2, 3])
    assert np.format_float_positional(put(2), trim="0") == "2.0"
