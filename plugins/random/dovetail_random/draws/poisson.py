"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here, type_shardings

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    int_dtype,
    open_key,
)
from ..fusing import fused
from ..keys import Key
from .rejection import F32, I32, LARGE, filled, until_accepted
from .uniform import split_keys, unit


def poisson(
    key: Any, lam: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Counts drawn from the Poisson distribution.

    Args:
        key: a typed or a raw threefry key.
        lam: the mean, a number or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``lam``.
        dtype: an integer dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
        NotImplementedError: the key is not one of threefry's.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, poisson, key, lam, shape, dtype)
    key = check_key("poisson", key)
    (lam,) = arrays("poisson", lam)
    result = int_dtype("poisson", dtype)
    return _poisson(key, lam, shape=common_shape("poisson", shape, lam), dtype=result)


@fused(static=("shape", "dtype"))
def _poisson(key: Any, lam: Any, *, shape: Shape, dtype: Any) -> Any:
    keys = open_key(key)
    impl = keys.dtype.impl
    if impl.name != "threefry2x32":
        raise NotImplementedError(
            f"poisson draws with keys of 'threefry2x32' only, got one of {impl.name!r}{here()}"
        )
    lam = filled(lam, shape, F32)
    small = lax.bitwise_or(lax.ne(lam, lam), lax.lt(lam, F32.type(LARGE)))
    limit = min(int(np.iinfo(dtype).max), int(np.iinfo(np.int32).max))
    few = _by_products(keys, lax.select(small, lam, lax.full_like(lam, 0)), shape, dtype, limit)
    many = _by_rejection(keys, lax.select(small, lax.full_like(lam, 1e5), lam), shape, dtype, limit)
    counts = lax.select(small, few, many)
    return lax.select(lax.eq(lam, F32.type(0)), lax.full_like(counts, 0), counts)


def _by_products(keys: Key, lam: Any, shape: Shape, dtype: Any, limit: int) -> Any:
    """Knuth: how many uniform numbers it takes until their product is below exp(-lam), less one."""
    bound = lax.neg(lam)

    def more(state: Any) -> Any:
        going = lax.reduce_or_p.bind(lax.gt(state[3], bound), axes=tuple(range(len(shape))))
        return lax.bitwise_and(going, lax.lt(state[0], I32.type(limit)))

    def step(state: Any) -> Any:
        i, count, key, log_product = state
        again, draw = split_keys(key, 2)
        counted = lax.add(count, dtype.type(1))
        count = lax.select(lax.gt(log_product, bound), counted, count)
        log_u = lax.log(unit(draw, shape, F32))
        return lax.add(i, I32.type(1)), count, again, lax.add(log_product, log_u)

    start = (I32.type(0), lax.full(shape, 0, dtype), keys, lax.full(shape, 0.0, F32))
    return lax.sub(lax.while_loop(more, step, start)[1], dtype.type(1))


def _by_rejection(keys: Key, lam: Any, shape: Shape, dtype: Any, limit: int) -> Any:
    """Hörmann (1993), "The transformed rejection method for generating Poisson variates"."""
    of = F32.type
    log_lam = lax.log(lam)
    b = lax.add(lax.mul(lax.sqrt(lam), of(2.53)), of(0.931))
    a = lax.add(lax.mul(b, of(0.02483)), of(-0.059))
    inv_alpha = lax.add(lax.div(of(1.1328), lax.sub(b, of(3.4))), of(1.1239))
    v_r = lax.sub(of(0.9277), lax.div(of(3.6224), lax.sub(b, of(2))))

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        us = lax.sub(of(0.5), lax.abs(u))
        slope = lax.add(lax.div(lax.mul(of(2), a), us), b)
        k = lax.floor(lax.add(lax.add(lax.mul(slope, u), lam), of(0.43)))
        density = lax.add(lax.div(a, lax.mul(us, us)), b)
        s = lax.log(lax.div(lax.mul(v, inv_alpha), density))
        t = lax.sub(lax.add(lax.neg(lam), lax.mul(k, log_lam)), lax.lgamma(lax.add(k, of(1))))
        quick = lax.bitwise_and(lax.ge(us, of(0.07)), lax.le(v, v_r))
        corner = lax.bitwise_and(lax.lt(us, of(0.013)), lax.gt(v, us))
        out = lax.bitwise_or(lax.lt(k, of(0)), corner)
        exact = lax.bitwise_and(lax.bitwise_not(out), lax.le(s, t))
        return k, lax.bitwise_or(quick, exact)

    return lax.convert_element_type(until_accepted(keys, propose, shape, F32, limit), dtype)
