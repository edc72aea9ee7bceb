"""Elementwise functions against NumPy: values, kinds of dtypes, broadcasting, special values."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp

FLOAT = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log "
    "log1p log2 log10 sqrt cbrt deg2rad rad2deg reciprocal sinc i0 spacing fabs rint"
).split()
ANY = (
    "abs negative positive sign floor ceil trunc conjugate real imag square signbit isnan isinf "
    "isfinite logical_not nan_to_num angle iscomplex isreal"
).split()
COMPLEX = (
    "sin cos tan sinh cosh tanh exp log sqrt square reciprocal conjugate real imag abs angle sign "
    "isnan isinf isfinite rint iscomplex isreal negative log10"
).split()
BINARY = (
    "add subtract multiply divide floor_divide remainder fmod power maximum minimum fmax fmin "
    "arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside equal not_equal less "
    "less_equal "
    "greater greater_equal logical_and logical_or logical_xor float_power divmod"
).split()
INTEGERS = "gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()


@pytest.mark.parametrize("name", FLOAT + ANY)
def test_functions_of_real_numbers(name, same_as_numpy):
    same_as_numpy(f"xp.{name}(p1)")
    same_as_numpy(f"xp.{name}(n1)")


@pytest.mark.parametrize("name", COMPLEX)
def test_functions_of_complex_numbers(name, same_as_numpy):
    same_as_numpy(f"xp.{name}(c1)", 1e-4)


@pytest.mark.parametrize("name", "sin exp sqrt log1p reciprocal".split())
def test_integers_are_computed_in_single_precision(name, arrays):
    out = getattr(dnp, name)(arrays["i1"])
    assert out.dtype == np.float32
    assert getattr(dnp, name)(True).dtype == np.float32


@pytest.mark.parametrize("name", "abs sign floor ceil trunc negative square bitwise_count".split())
def test_integers_stay_integers(name, same_as_numpy):
    same_as_numpy(f"xp.{name}(i1)")
    same_as_numpy(f"xp.{name}(u1)")


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_operands(name, same_as_numpy):
    tolerance = 1e-4
    same_as_numpy(f"xp.{name}(p1, srt)", tolerance)
    same_as_numpy(f"xp.{name}(f2, xp.abs(f3[..., :1, :3]) + 1)", tolerance)


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers(name, same_as_numpy):
    same_as_numpy(f"xp.{name}(u1, u1[::-1] % 5)")
    same_as_numpy(f"xp.{name}(xp.abs(i1), i1[::-1] % 4)")


CASES = """\
xp.add(b1, b1)
xp.multiply(b1, ~b1)
xp.maximum(c1, c1[::-1])
xp.less(c1, c1[::-1])
xp.logaddexp(n1, n1[::-1])
xp.floor_divide(n1, np.float32(2))
xp.fmax(n1, n1[::-1])
i1 // (i1[::-1] * 2 + 1)
i1 % (i1[::-1] * 2 + 1)
xp.abs(i1) ** u1
2 ** xp.abs(i1)
xp.frexp(xp.abs(srt) + 3)
xp.modf(f1)
xp.ldexp(f1, i1)
xp.round(f1, 2)
xp.round(i1 * 17, -1)
xp.nan_to_num(n1, nan=7.0, posinf=1.0)
xp.clip(f1, -1, 1)
xp.clip(f1, None, 1)
xp.clip(i1, 0, 2)
xp.where(f2 > 0, f2, 0)
xp.where(b2, f2, f2[0])
xp.select([f1 > 1, f1 < 0], [f1, -f1], 7)
xp.piecewise(f1, [f1 < 0], [lambda v: -v, 3])
xp.isclose(n1, n1, equal_nan=True)
xp.isclose(f1, f1 + np.float32(1e-6))
xp.packbits(b2, axis=1)
xp.unpackbits(u1, count=11)
xp.unpackbits(u1, bitorder='little')
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_particular_cases(case, same_as_numpy):
    same_as_numpy(case)


def test_remainders_and_quotients_of_zero_are_defined():
    zero = dnp.zeros(2, int)
    assert (dnp.asarray([-5, 3]) % zero).tolist() == [0, 0]
    assert dnp.fmod(dnp.asarray([-5, 3]), zero).tolist() == [0, 0]


def test_where_and_isclose_say_whether_arrays_are_equal():
    x = dnp.asarray([1.0, dnp.nan])
    assert not dnp.array_equal(x, x)
    assert dnp.array_equal(x, x, equal_nan=True)
    assert dnp.array_equiv(dnp.ones(2), dnp.ones((3, 2)))
    assert not dnp.array_equal(dnp.ones(2), dnp.ones(3))
    assert dnp.allclose(dnp.ones(2), 1 + 1e-7)
