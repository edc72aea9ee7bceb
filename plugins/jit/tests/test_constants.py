"""Programs that hold arrays of their own, called again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_backends import device_put, devices, transfer_guard
from dovetail_core import stage_closed, typeof
from dovetail_jit import jit, jit_p, make_jaxpr


def array(x: Any) -> Any:
    """An array that is bound to no device."""
    return jit(lambda y: y)(x)


def test_a_program_with_constants_is_called_without_python() -> None:
    """The third call is the first that stays in C++, which must know of the constants."""
    x, c = np.ones(4, np.float32), np.arange(4, dtype=np.float32)
    program = stage_closed(lambda x: [x * c, x[np.array([1, 1, 3])]], [typeof(x)], "program")
    for k in range(5):
        product, part = jit_p.bind(x + k, jaxpr=program, name="program", donated_invars=(False,))
        np.testing.assert_array_equal(product, (1 + k) * c)
        np.testing.assert_array_equal(part, [1 + k] * 3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "complex64", "float16"])
def test_a_scalar_that_is_closed_over_is_part_of_the_program(dtype: str) -> None:
    c = array(np.ones((), dtype) * np.asarray(1).astype(dtype))
    call = jit(lambda x: (x, c))
    assert not call.trace(1.0).jaxpr.consts
    for _ in range(3):
        found = call(1.0)[1]
        assert typeof(found) == typeof(c)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(c))


def test_of_a_scalar_that_is_closed_over_the_type_is_kept() -> None:
    weak = jit(lambda: 2.5)()
    assert typeof(weak).weak_type
    call = jit(lambda x: x * weak)
    assert call(np.ones(2, "float16")).dtype == "float16"
    assert "f32[]~" in str(call.trace(np.ones(2, "float16")).jaxpr)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_scalars_that_are_closed_over_keep_their_bits(value: float) -> None:
    known = array(np.float32(value))
    assert np.asarray(jit(lambda x: (x, known))(1)[1]).tobytes() == np.float32(value).tobytes()


def test_scalars_of_a_place_and_arrays_that_are_closed_over_are_operands() -> None:
    placed, vector = device_put(np.float32(2), devices()[0]), array(np.ones(2, "float32"))
    assert len(jit(lambda x: x * placed * vector).trace(1.0).jaxpr.consts) == 2
    gone = array(np.float32(1)) + 1
    gone.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jit(lambda x: x * gone)(1.0)


def test_scalars_are_read_whatever_transfers_are_refused() -> None:
    c = array(np.float32(3))
    with transfer_guard("disallow"):
        x = jit(lambda: c * 2)()
    assert x == 6


def test_numpy_arrays_without_dimensions_are_literals() -> None:
    value = np.array(4, "float32")
    program = make_jaxpr(lambda x: x * value)(1.0)
    value[...] = 5
    assert program.consts == [] and "4.0:f32[]" in str(program)
