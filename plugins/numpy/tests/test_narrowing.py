"""Warnings of conversions that lose imaginary parts, or 64-bit types that are not enabled."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_nn as nn
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_core import enable_x64
from dovetail_jit import jit

Z = dnp.asarray(np.array([1 + 2j, 3 - 1j], np.complex64))
KEY = random.key(0)
REAL = {
    "astype": lambda: Z.astype("float32"),
    "astype int": lambda: Z.astype("int32"),
    "jit": lambda: jit(lambda z: z.astype("bfloat16"))(Z),
    "convert_element_type": lambda: lax.convert_element_type(Z, "float32"),
    "asarray": lambda: dnp.asarray(Z, dtype="float32"),
    "list": lambda: dnp.asarray([Z[0], Z[1]], dtype="float32"),
    "numpy": lambda: dnp.asarray(np.asarray(Z), dtype="float32"),
    "scalar type": lambda: dnp.float32(Z),
    "sum": lambda: dnp.sum(Z, dtype="float32"),
    "mean": lambda: dnp.mean(Z, dtype="float32"),
    "cumsum": lambda: dnp.cumsum(Z, dtype="float32"),
    "concatenate": lambda: dnp.concatenate([Z, Z], dtype="float32"),
    "stack": lambda: dnp.stack([Z, Z], dtype="float32"),
    "full": lambda: dnp.full((2,), Z, "float32"),
    "lax.full": lambda: lax.full((2,), Z[0], "float32"),
    "linspace": lambda: dnp.linspace(0, 1j, 3, dtype="float32"),
}


@pytest.mark.parametrize("case", REAL)
def test_lost_imaginary_parts_are_said(case: str) -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match=r"(?i)discards the imaginary part") as w:
        result = REAL[case]()
    assert result.dtype.kind != "c"
    if case != "numpy":  # which says so itself
        assert [v.filename for v in w] == [__file__]
        assert f"to {result.dtype} discards the imaginary parts at {__file__}" in str(w[0].message)


def test_a_value_written_to_real_numbers_loses_its_imaginary_part() -> None:
    for y in (1 + 2j, Z[0]):
        with pytest.warns(FutureWarning), pytest.warns(np.exceptions.ComplexWarning):
            assert dnp.zeros(2).at[0].set(y).tolist() == [1, 0]


def test_python_numbers_keep_their_imaginary_part() -> None:
    for call in (
        lambda: lax.convert_element_type(1 + 2j, "float32"),
        lambda: lax.full((2,), 1 + 2j, "float32"),
        lambda: lax.full_like(dnp.ones(2), 1 + 2j),
    ):
        with pytest.raises(TypeError, match=r"\(1\+2j\) is no number of dtype float32 at .*nar"):
            call()


def test_conversions_that_lose_no_imaginary_part_are_silent() -> None:
    for f in (
        lambda: Z.astype(bool),
        lambda: Z.astype("complex64"),
        lambda: dnp.abs(Z),
        lambda: dnp.real(Z),
        lambda: dnp.linalg.norm(Z),
        lambda: dnp.var(Z),
        lambda: dnp.fft.irfft(Z),
        lambda: dnp.allclose(Z, 1),
        lambda: dnp.array(1e300),
    ):
        f()


WIDE = {
    "zeros": (lambda: dnp.zeros(2, "float64"), "float32"),
    "numpy type": (lambda: dnp.ones(2, np.int64), "int32"),
    "scalar type": (lambda: dnp.arange(2, dtype=dnp.uint64), "uint32"),
    "call of one": (lambda: dnp.complex128(1), "complex64"),
    "dtype of an array": (lambda: dnp.asarray(1, np.ones(1).dtype), "float32"),
    "astype": (lambda: dnp.ones(2).astype("float64"), "float32"),
    "sum": (lambda: dnp.sum(dnp.ones(2), dtype="float64"), "float32"),
    "lax": (lambda: lax.iota("int64", 2), "int32"),
    "convert_element_type": (lambda: lax.convert_element_type(1.0, "float64"), "float32"),
    "random": (lambda: random.normal(KEY, (2,), "float64"), "float32"),
    "bits": (lambda: random.bits(KEY, (2,), "uint64"), "uint32"),
    "nn": (lambda: nn.initializers.ones(KEY, (2,), np.float64), "float32"),
}


@pytest.mark.parametrize("case", WIDE)
def test_64_bit_types_that_are_not_enabled_are_said(case: str) -> None:
    call, narrow = WIDE[case]
    with pytest.warns(UserWarning, match=r"64 was asked for|128 was asked for") as result:
        assert call().dtype == narrow
    (said,) = result
    text = rf"at {re.escape(__file__)}:\d+ .*types it is {narrow}\. Enable them \(dovetail\.enable"
    assert said.filename == __file__ and re.search(text, str(said.message))
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call().dtype != narrow


def test_the_default_types_are_those_of_python() -> None:
    assert dnp.zeros(2, float).dtype == np.float32 and dnp.ones(2, int).dtype == np.int32
    with pytest.warns(UserWarning, match="float64 was asked for"):
        assert dnp.result_type("float64", np.float32) == np.float32
    assert dnp.asarray(np.ones(2)).dtype == dnp.zeros_like(np.ones(2)).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_wider_types_are_none_of_arrays(dtype: type) -> None:
    for call in (
        lambda: dnp.zeros(2, dtype),
        lambda: dnp.asarray(np.ones(2, dtype)),
        lambda: dnp.sin(dtype(1)),
        lambda: dnp.ones(2).astype(dtype),
        lambda: dnp.asarray(np.rec.array([(1, 2)])),
    ):
        with pytest.raises(TypeError, match="only numbers and booleans"):
            call()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_astype_will_refuse_complex_numbers(dtype: str) -> None:
    with pytest.warns(DeprecationWarning, match="discards the imaginary part"):
        Z.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        with pytest.warns(np.exceptions.ComplexWarning):
            lax.convert_element_type(Z, dtype)


@pytest.mark.parametrize("asked", ["float64", np.float64, np.dtype("int64")])
def test_result_types_of_names_of_64_bits_say_that_they_are_narrower(asked: object) -> None:
    with pytest.warns(UserWarning, match="without 64-bit types"):
        assert dnp.result_type(asked).itemsize == 4
    with enable_x64(True):
        assert dnp.result_type(asked).itemsize == 8
    assert dnp.result_type(np.arange(3.0), float).itemsize == 4


def test_one_hot_warns_of_what_are_no_integers() -> None:
    with pytest.warns(DeprecationWarning, match="takes integers"):
        assert nn.one_hot(dnp.array([1.0]), 2).tolist() == [[0.0, 1.0]]


WIDE_RESULTS = {
    "sum": (dnp.sum, "float64", "float32"),
    "sum of integers": (dnp.sum, "int64", "int32"),
    "prod": (dnp.prod, "uint64", "uint32"),
    "max": (dnp.max, "int64", "int32"),
    "mean": (dnp.mean, "complex128", "complex64"),
    "std": (dnp.std, "complex128", "float32"),
    "cumsum": (dnp.cumsum, "float64", "float32"),
    "nanmax": (dnp.nanmax, "float64", "float32"),
    "norm": (dnp.linalg.norm, "float64", "float32"),
    "norm of complex numbers": (dnp.linalg.norm, "complex128", "float32"),
    "norm of an order": (lambda x: dnp.linalg.norm(x, 3), "float64", "float32"),
    "fft": (dnp.fft.fft, "float64", "complex64"),
    "sum in jit": (jit(dnp.sum), "float64", "float32"),
    "elementwise": (dnp.negative, "float64", "float64"),
    "indexing": (lambda x: x[1:], "float64", "float64"),
}


@pytest.mark.parametrize("case", WIDE_RESULTS)
def test_reductions_of_wide_arrays_are_narrow_without_wide_types(case: str) -> None:
    """As in JAX: arrays made under ``enable_x64`` keep their type in other operations."""
    f, own, wanted = WIDE_RESULTS[case]
    with enable_x64(True):
        x = dnp.arange(4).astype(own)
        assert f(x).dtype.itemsize >= 8
    assert f(x).dtype == wanted
