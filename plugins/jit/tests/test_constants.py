"""Programs that hold arrays of their own, called again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_ad import grad, hessian
from dovetail_backends import device_put, devices, transfer_guard
from dovetail_batching import vmap
from dovetail_core import stage_closed, typeof
from dovetail_jit import jit, jit_p, make_jaxpr
from dovetail_refs import new_ref


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


def arguments(f: Any, *args: Any) -> int:
    """How many arguments the module of a jitted function has."""
    return jit(f).lower(*args).as_text().split("->")[0].count("%arg")


@pytest.mark.parametrize("on_device", [True, False])
@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (0,)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "complex64", "float16"])
def test_a_small_array_that_is_closed_over_is_part_of_the_module(
    dtype: str, shape: tuple[int, ...], on_device: bool
) -> None:
    c: Any = np.ones(shape, dtype) * np.asarray(1).astype(dtype)
    c = array(c) if on_device else c
    assert arguments(lambda x: (x, c), 1.0) == 1
    call = jit(lambda x: (x, c))
    assert len(call.trace(1.0).jaxpr.consts) == (shape != () or on_device)
    for _ in range(3):
        result = call(1.0)[1]
        assert typeof(result) == typeof(c)
        np.testing.assert_array_equal(np.asarray(result), np.asarray(c))


def test_of_a_constant_the_type_is_kept() -> None:
    weak = jit(lambda: 2.5)()
    assert typeof(weak).weak_type
    assert jit(lambda x: x * weak)(np.ones(2, "float16")).dtype == "float16"


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_constants_keep_their_bits(value: float) -> None:
    known = array(np.full(2, value, np.float32))
    assert np.asarray(jit(lambda x: (x, known))(1)[1]).tobytes() == np.asarray(known).tobytes()


def test_constants_of_a_place_and_large_ones_are_arguments() -> None:
    placed, large = device_put(np.float32(2), devices()[0]), array(np.ones(1000, "float32"))
    assert arguments(lambda x: x * placed * large, 1.0) == 3
    np.testing.assert_array_equal(jit(lambda x: x * placed * large)(2.0), 4 * np.ones(1000))
    gone = array(np.float32(1)) + 1
    gone.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jit(lambda x: x * gone)(1.0)


def test_constants_are_read_whatever_transfers_are_refused() -> None:
    c = array(np.float32(3))
    with transfer_guard("disallow"):
        x = jit(lambda: c * 2)()
    assert x == 6


def test_constants_of_functions_that_are_transformed() -> None:
    c, x = array(np.arange(1.0, 4.0, dtype="float32")), np.ones(3, "float32")
    inner = jit(lambda x: (x * x * c).sum())
    for f in (grad(inner), jit(grad(inner)), lambda x: jit(vmap(grad(inner)))(x[None])[0]):
        np.testing.assert_allclose(f(x), 2 * np.asarray(c))
    np.testing.assert_allclose(jit(lambda x: inner(x) + inner(x))(x), 12)
    np.testing.assert_allclose(hessian(inner)(x), np.diag(2 * np.asarray(c)))


def test_constants_beside_references() -> None:
    """Effects of a program are on its operands, by their positions."""
    known = np.array([0.75], np.float32)
    ref = new_ref(array(np.ones(1, np.float32)))
    add = jit(lambda r: r.__setitem__(..., known + r[...]))
    for n in (1, 2, 3):
        add(ref)
        np.testing.assert_allclose(ref[...], 1 + n * 0.75)


def test_numpy_arrays_without_dimensions_are_literals() -> None:
    value = np.array(4, "float32")
    program = make_jaxpr(lambda x: x * value)(1.0)
    value[...] = 5
    assert program.consts == [] and "4.0:f32[]" in str(program)
