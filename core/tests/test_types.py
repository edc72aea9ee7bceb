"""Types: interning, weak types, how Python values get their types, what is not a value."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import ml_dtypes
import numpy as np
import pytest

from dovetail_core import (
    AbstractValue,
    ExtendedDType,
    ShapedArray,
    canonical_dtype,
    enable_x64,
    float0,
    is_inexact,
    is_value,
    register_type,
    short_dtype,
    typeof,
)


def test_equal_types_are_one_object_however_they_are_written():
    a = ShapedArray((2, 3), np.float32)
    assert a is ShapedArray([2, 3], "float32") is ShapedArray((2, 3), np.dtype("f4"), False)
    assert a is not ShapedArray((2, 3), np.float32, True)
    assert a is not ShapedArray((3, 2), np.float32)
    assert copy.deepcopy(a) is a and pickle.loads(pickle.dumps(a)) is a


@pytest.mark.parametrize("one", [True, np.int64(1)])
def test_dimensions_are_python_integers(one):
    a = ShapedArray((one, np.uint8(191)), np.float32, np.bool_(False))
    assert [type(d) for d in a.shape] == [int, int] and a.weak_type is False
    assert a is ShapedArray((1, 191), np.float32) and a.str_short() == "f32[1,191]"


def test_an_error_for_a_dimension_that_is_no_integer():
    with pytest.raises(TypeError) as e:
        ShapedArray((2.0,), np.float32)
    assert str(e.value).startswith("shapes are made of integers, got 2.0 of type float at ")
    assert str(e.value).endswith("Convert it with int(...).")


def test_types_that_nobody_holds_are_forgotten():
    ref = weakref.ref(ShapedArray((12345, 7), np.float32))
    gc.collect()
    assert ref() is None


def test_attributes_of_a_type():
    a = ShapedArray((2, 3), np.int32)
    assert (a.ndim, a.size, a.shape, a.dtype) == (2, 6, (2, 3), np.dtype("i4"))
    assert a.update(shape=()) is ShapedArray((), np.int32)
    assert a.update(weak_type=True).strong() is a
    assert repr(a) == "ShapedArray(int32[2,3])" and str(a) == "int32[2,3]"
    assert a.update(weak_type=True).str_short() == "i32[2,3]~"


def test_tangent_types():
    assert ShapedArray((2,), np.float32).tangent_type() is ShapedArray((2,), np.float32)
    weak = ShapedArray((2,), ml_dtypes.bfloat16, True)
    assert weak.tangent_type() is weak.strong()
    assert ShapedArray((2,), np.int32, True).tangent_type() is ShapedArray((2,), float0)
    assert ShapedArray((2,), np.complex64).cotangent_type().dtype == np.complex64
    with pytest.raises(NotImplementedError, match="AbstractValue has no tangent type: define"):
        AbstractValue().tangent_type()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.float32, "f32"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.complex128, "c128"),
        (np.uint8, "u8"),
        (ml_dtypes.int4, "i4"),
        (np.bool_, "bool"),
        (ml_dtypes.float8_e4m3fn, "float8_e4m3fn"),
        (float0, "float0"),
    ],
)
def test_short_names_of_dtypes(dtype, name):
    assert short_dtype(np.dtype(dtype)) == name


def test_which_dtypes_are_inexact():
    yes = [np.float16, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
    no = [np.int8, np.bool_, ml_dtypes.int4, float0]
    assert all(is_inexact(np.dtype(d)) for d in yes)
    assert not any(is_inexact(np.dtype(d)) for d in no)


def test_python_scalars_are_weak_and_numpy_values_are_not():
    assert typeof(1) is ShapedArray((), np.int32, True)
    assert typeof(1.0) is ShapedArray((), np.float32, True)
    assert typeof(1j) is ShapedArray((), np.complex64, True)
    assert typeof(True) is ShapedArray((), np.bool_)
    assert typeof(np.float32(1)) is ShapedArray((), np.float32)
    assert typeof(np.float64(1)) is ShapedArray((), np.float32)  # though it is a Python float, too
    assert typeof(np.ones((2, 3), np.int16)) is ShapedArray((2, 3), np.int16)


def test_64_bit_types_are_kept_with_x64_only():
    x = np.zeros(2)
    assert typeof(x).dtype == np.float32
    with enable_x64(True):
        assert typeof(x).dtype == np.float64
        assert typeof(1) is ShapedArray((), np.int64, True)
        assert typeof(2.0).dtype == np.float64 and typeof(2j).dtype == np.complex128
        assert canonical_dtype(np.uint64) == np.uint64
    assert canonical_dtype(np.uint64) == np.uint32
    assert canonical_dtype(int) == np.int32


def test_byte_order_is_not_part_of_a_type():
    assert typeof(np.zeros(2, ">f4")) is ShapedArray((2,), np.float32)
    assert canonical_dtype(">i2") == np.dtype(np.int16)


class _Key(ExtendedDType):
    name = "key"


def test_dtypes_that_numpy_lacks():
    key = _Key()
    a = ShapedArray((2,), key)
    assert a is ShapedArray([2], key) and a.str_short() == "key[2]"
    assert canonical_dtype(key) is key and not is_inexact(key)
    assert a.numpy_dtype() is None and ShapedArray((), float0).numpy_dtype() is None
    assert a.tangent_type().dtype == float0


def test_registered_classes_and_their_subclasses_are_values():
    class Meters(float):
        pass

    class Celsius:
        pass

    class Warm(Celsius):
        pass

    assert typeof(Meters(2)) is typeof(2.0) and is_value(Meters(1))
    assert not is_value(Warm())
    register_type(Celsius, lambda x: ShapedArray((), np.float32))
    assert typeof(Warm()) is ShapedArray((), np.float32) and is_value(Warm())


def test_an_error_for_what_is_not_a_value_names_it_and_what_may_be_passed():
    with pytest.raises(TypeError) as e:
        typeof("hello")
    assert str(e.value).startswith("'hello' of type str is not a valid array value. Pass an array")
    assert "static_argnums" in str(e.value) and "register_pytree_node" in str(e.value)
    with pytest.raises(TypeError, match=r"^\[0, 1, 2.{60,80}\.\.\. of type list is not"):
        typeof(list(range(100)))


def test_an_error_for_arrays_of_objects():
    with pytest.raises(TypeError, match="an array of dtype object is not a valid array value"):
        typeof(np.array([None]))
    with pytest.raises(TypeError, match="dtype <U1 is not"):
        typeof(np.array("a"))


def test_masked_arrays_are_no_values():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    typeof(np.asarray(masked))
    for x in (masked, masked[1:], np.ma.masked):
        assert not is_value(x)
        with pytest.raises(ValueError, match=r"its mask would be lost at .*test_types.* x\.filled"):
            typeof(x)
