"""What arrays look like."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import device_put


def test_repr(put):
    assert repr(put([1, 2])) == "Array([1., 2.], dtype=float32)"
    assert repr(put([[1], [2]], np.int8)) == "Array([[1],\n       [2]], dtype=int8)"
    assert repr(device_put(1.0)) == "Array(1., dtype=float32, weak_type=True)"
    assert repr(device_put(True)) == "Array(True, dtype=bool)"
    assert repr(put(np.ones((3, 0)))) == "Array([], shape=(3, 0), dtype=float32)"
    assert repr(put([])) == "Array([], shape=(0,), dtype=float32)"
    assert repr(device_put(np.ones(2, ml_dtypes.bfloat16))) == "Array([1, 1], dtype=bfloat16)"
    assert repr(put([1j], np.complex64)) == "Array([0.+1.j], dtype=complex64)"


def test_large_arrays_are_summarised(put):
    assert "..., " in repr(put(np.arange(3000)))


def test_tail_has_its_own_line_where_it_does_not_fit(put):
    with np.printoptions(linewidth=30):
        lines = repr(put([1.25, 2.25, 3.25])).splitlines()
    assert lines == ["Array([1.25, 2.25, 3.25],", "      dtype=float32)"]


def test_str_and_format(put):
    assert str(put([1, 2])) == f"{put([1, 2])}" == "[1. 2.]"
    assert f"{put(1.5)}" == "1.5"
    assert f"{put(1.5):.3f}" == "1.500"
    assert f"{put(5, np.int32):03d}" == "005"
    assert f"{device_put(np.asarray(5, ml_dtypes.bfloat16)):.2f}" == "5.00"


def test_formats_are_for_numbers(put):
    with pytest.raises(TypeError, match=r"format '\.2f' is for numbers.* f32\[2\].*printoptions"):
        f"{put([1, 2]):.2f}"


def test_deleted_arrays_can_be_shown(put):
    x = put([1, 2])
    x.delete()
    assert repr(x) == "Array(<deleted>, shape=(2,), dtype=float32)"
    assert str(x) == f"{x}" == "Array(<deleted>)"
