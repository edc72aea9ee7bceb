"""Modified Bessel functions of order 0 and 1, exponentially scaled, and their derivatives.

By Chebyshev series. exp(-|x|) In(x) is the mean of exp(-|x| u) cos(nθ) over angles θ, with u =
1 - cos θ (DLMF 10.32.3): the derivative of order k has another factor (-u)^k for x > 0, and falls
as x^-(k + 1/2). No derivative is found as a difference of functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from dovetail_core import cached

from ..primitives.arithmetic import (
    abs_p,
    add_p,
    div_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_p,
    neg_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    sub_p,
)
from ..primitives.discrete import eq_p, le_p
from ..primitives.values import select_n_p
from ..scalars import scalar
from . import bessel_coefficients
from .precision import in_single

# Coefficients of exp(-x) I0(x) in T_k(x/4 - 1) for 0 <= x <= 8, and of sqrt(x) exp(-x) I0(x) in
# T_k(16/x - 1) for 8 <= x: discrete cosine transforms of values at Chebyshev nodes, which were
# computed with 120 digits from the power series and, beyond 80, from the asymptotic series.
_SMALL = [
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
    0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
    0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05,
    1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06,
    -2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08, 2.6598237246823866e-09,
    -5.189795601635263e-10, 9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12,
    -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15,
    -2.431279846547955e-16, 3.3307945188222384e-17, -4.4153416464793395e-18,
]  # fmt: skip
_LARGE = [
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11,
    -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15,
    -3.425485619677219e-16, -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17,
    -4.830504485944182e-18, -7.233180487874754e-18, 9.921475412173699e-19, 1.193650890845982e-18,
]  # fmt: skip


def _chebyshev(t: Any, coefficients: Sequence[float], dtype: Any) -> Any:
    """The series at ``t`` in [-1, 1] by Clenshaw's recurrence, without terms below precision."""
    smallest = 1e-9 if dtype.itemsize == 4 else 0.0
    terms = [c for c in coefficients if abs(c) > smallest]
    twice = mul_p.bind(t, scalar(2.0, dtype))
    b1 = b2 = scalar(0.0, dtype)
    for c in reversed(terms[1:]):
        step = add_p.bind(sub_p.bind(mul_p.bind(twice, b1), b2), scalar(c, dtype))
        b1, b2 = step, b1
    return add_p.bind(sub_p.bind(mul_p.bind(t, b1), b2), scalar(terms[0], dtype))


@in_single
def bessel_i0e(x: Any) -> Any:
    """``exp(-|x|) I0(x)``."""
    dtype = x.dtype
    eight = scalar(8.0, dtype)
    x = abs_p.bind(x)
    near, far = min_p.bind(x, eight), max_p.bind(x, eight)
    one = scalar(1.0, dtype)
    low = _chebyshev(sub_p.bind(mul_p.bind(near, scalar(0.25, dtype)), one), _SMALL, dtype)
    high = _chebyshev(sub_p.bind(div_p.bind(scalar(16.0, dtype), far), one), _LARGE, dtype)
    high = mul_p.bind(high, rsqrt_p.bind(far))
    # Not x > 8: NaN belongs to neither, and the upper branch keeps it.
    return select_n_p.bind(le_p.bind(x, eight), high, low)


_WEIGHT = 2.0


@cached
def _decaying(n: int, order: int) -> tuple[Any, Any]:
    """Coefficients of (-1)^k times the derivative of order k, times powers of exponent k + 1/2.

    Of (x + 2) for x < 8, in t = x/4 - 1, and of x beyond, in t = 16/x - 1. Those of higher orders
    follow by differentiating the series of the one before.
    """
    if order <= 2:
        return tuple(getattr(bessel_coefficients, f"I{n}E_{s}_{order}") for s in ("NEAR", "FAR"))
    (near, far), series = _decaying(n, order - 1), np.polynomial.chebyshev
    in_x = series.chebmul([1 + _WEIGHT / 4, 1.0], series.chebder(near))
    in_inverse = series.chebmul([1.0, 1.0], series.chebder(far))
    near, far = (np.multiply(c, order - 0.5) for c in (near, far))
    return tuple(series.chebsub(near, in_x).tolist()), tuple(
        series.chebadd(far, in_inverse).tolist()
    )


def scaled_slope(x: Any, n: int, order: int) -> Any:
    """The derivative of ``exp(-|x|) In(x)`` of an order; at 0 as if ``|x|`` had the derivative 0.

    That is what exp(|x|) times the function needs, which is smooth.
    """
    return in_single(lambda x: _scaled_slope(x, n, order))(x)


def _scaled_slope(x: Any, n: int, order: int) -> Any:
    dtype, size = x.dtype, abs_p.bind(x)
    eight, one = scalar(8.0, dtype), scalar(1.0, dtype)
    small = le_p.bind(size, eight)
    near, far = min_p.bind(size, eight), max_p.bind(size, eight)
    in_x, in_inverse = _decaying(n, order)
    low = _chebyshev(sub_p.bind(mul_p.bind(near, scalar(0.25, dtype)), one), in_x, dtype)
    high = _chebyshev(sub_p.bind(div_p.bind(scalar(16.0, dtype), far), one), in_inverse, dtype)
    below = select_n_p.bind(small, size, add_p.bind(size, scalar(_WEIGHT, dtype)))
    inverse = div_p.bind(one, below)
    powers = mul_p.bind(sqrt_p.bind(inverse), integer_pow_p.bind(inverse, y=order))
    result = mul_p.bind(select_n_p.bind(small, high, low), powers)
    result = neg_p.bind(result) if order % 2 else result
    even = n + order
    if even % 2:
        return mul_p.bind(sign_p.bind(x), result)
    at_zero = scalar(comb(even, even // 2) / 2.0**even, dtype)
    return select_n_p.bind(eq_p.bind(x, scalar(0.0, dtype)), result, at_zero)
