"""What is said to be exact: NumPy and compiled programs give the same bits, on special values."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import evaluate_exactly, is_exact
from dovetail_core import enable_x64, stage_closed, typeof
from dovetail_jit import jit
from dovetail_testing import assert_same_bits

UNARY = "neg sign abs square sqrt floor ceil is_finite not population_count clz".split()
BINARY = """
    add sub mul div rem eq ne lt le gt ge max min nextafter and or xor shift_left mulhi
    shift_right_logical shift_right_arithmetic eq_to le_to lt_to
""".split()
TYPES = ["float32", "float64", "int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"]


def special(dtype: str) -> Any:
    """Numbers at which conventions differ, and some others."""
    if dtype == "bool":
        return np.array([False, True])
    if np.dtype(dtype).kind == "f":
        info = np.finfo(dtype)
        some = [0.0, -0.0, 1, -1, 0.5, -1.5, 2.5, 3, 1 / 3, info.max, info.min, info.tiny, info.eps]
        return np.array([*some, np.inf, -np.inf, np.nan, 1e10, -7.3], dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 2, 3, 7, 100, info.max - 1, info.max // 3], dtype)


def check(name: str, *args: Any, **params: Any) -> None:
    primitive = getattr(lax, f"{name}_p")

    def f(*xs: Any) -> Any:
        return primitive.bind(*xs, **params)

    try:
        program = stage_closed(lambda *xs: [f(*xs)], [typeof(x) for x in args], name)
    except TypeError:
        pytest.skip("the operation is not for this type")
    if not is_exact(program):
        pytest.skip("nobody says that it is exact for this type")
    expected = evaluate_exactly(program, args)
    if expected is None:
        pytest.skip("a result is subnormal")
    assert_same_bits(jit(f)(*args), expected[0], name)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_of_one_operand(name: str, dtype: str) -> None:
    with enable_x64():
        check(name, special(dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", BINARY)
def test_of_two_operands(name: str, dtype: str) -> None:
    some = special(dtype)
    x, y = (a.ravel() for a in np.broadcast_arrays(some[:, None], some))
    if np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            results = [np.abs(r) for r in (x * y, x / y, np.fmod(x, y), np.nextafter(x, y))]
        usual = [(r == 0) | ~(r < np.finfo(dtype).tiny) for r in results]
        x, y = x[np.all(usual, 0)], y[np.all(usual, 0)]
    with enable_x64():
        check(name, x, y)


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_conversions(dtype: str, to: str) -> None:
    with enable_x64():
        check("convert_element_type", special(dtype), new_dtype=np.dtype(to), weak_type=False)


def test_what_is_not_exact() -> None:
    add, mul, exp = lax.add_p, lax.mul_p, lax.exp_p
    x = typeof(np.ones(3, np.float32))

    def exact(f: Any, *avals: Any) -> bool:
        return is_exact(stage_closed(lambda *xs: [f(*xs)], list(avals), "f"))

    assert exact(mul.bind, x, x)
    assert not exact(exp.bind, x)
    assert not exact(lambda a, b: add.bind(mul.bind(a, b), b), x, x)  # contracted
    assert not exact(lambda a: mul.bind(a, np.full(3, 0.1, np.float32)), x)  # known to the compiler
    assert not exact(mul.bind, *[typeof(np.ones(20_000, np.float32))] * 2)  # worth compiling
    assert not exact(mul.bind, *[typeof(np.ones(3, np.complex64))] * 2)
    tiny = stage_closed(lambda a: [mul.bind(a, a)], [x], "f")
    assert evaluate_exactly(tiny, [np.full(3, 1e-20, np.float32)]) is None


def test_rules_import_scipy_when_they_need_it() -> None:
    script = "import sys, dovetail.numpy as jnp; jnp.arange(3) + 1; print('scipy' in sys.modules)"
    env = {**os.environ, "DOVETAIL_INTERPRET_FIRST_CALLS": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "bfloat16"])
def test_narrow_numbers(dtype: str) -> None:
    """Moved as they are; NumPy's way from wider ones is not the compiler's."""
    x = np.asarray([1, 2, 0], getattr(ml_dtypes, dtype))
    result = lax.concatenate([x, lax.rev(x, (0,))], 0)
    np.testing.assert_array_equal(np.asarray(result, np.float32), [1, 2, 0, 0, 2, 1])
    to = lambda a: [lax.convert_element_type(a, x.dtype)]  # noqa: E731
    assert not is_exact(stage_closed(to, [typeof(np.ones(3, np.float32))], "f"))
