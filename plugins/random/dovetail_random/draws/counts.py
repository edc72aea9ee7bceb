"""Counts of events: binomial, multinomial and Poisson numbers, for great means by rejection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integers
from dovetail_core import here
from dovetail_lax import dtypes

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    drawn,
    float_dtype,
    full_parameter,
    int_dtype,
    open_key,
    working_dtype,
)
from ..implementations import fused
from ..keys import Key
from ..primitives import random_split_p
from ..threefry import how_drawn
from .uniform import nonzero, split_keys, unit

F32 = np.dtype(np.float32)
I32 = np.dtype(np.int32)


LARGE = 10.0
"""From this mean on the rejection methods are quicker than counting, and are valid."""


def until_accepted(
    keys: Key,
    propose: Callable[[Any, Any], tuple[Any, Any]],
    shape: Shape,
    dtype: Any,
    limit: int,
) -> Any:
    """The first accepted proposal of each element: each takes u in [-1/2, 1/2) and v in (0, 1)."""

    def more(state: Any) -> Any:
        missing = lax.reduce_or_p.bind(lax.bitwise_not(state[2]), axes=tuple(range(len(shape))))
        return lax.bitwise_and(missing, lax.lt(state[0], I32.type(limit)))

    def step(state: Any) -> Any:
        i, k_out, accepted, key = state
        again, of_u, of_v = split_keys(key, 3)
        u = lax.sub(unit(of_u, shape, dtype), dtype.type(0.5))
        k, accept = propose(u, nonzero(unit(of_v, shape, dtype)))  # 0 would accept any proposal
        k_out = lax.select(accept, k, k_out)
        return lax.add(i, I32.type(1)), k_out, lax.bitwise_or(accepted, accept), again

    start = (I32.type(0), lax.full(shape, -1, dtype), lax.full(shape, False), keys)
    return lax.while_loop(more, step, start)[1]


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Counts of successes in ``n`` trials of success probability ``p``, of a floating-point type.

    Args:
        key: a typed or a raw key.
        n: the number of trials, a number or an array that broadcasts to ``shape``.
        p: the probability of success, likewise.
        shape: the shape of the result; None for that of the parameters.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return drawn(_binomial, "binomial", key, (n, p), shape, dtype)


@fused(static=("shape", "dtype"))
def _binomial(key: Any, n: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    return binomial_of(open_key(key), n, p, shape, dtype)


def binomial_of(keys: Key, n: Any, p: Any, shape: Shape, dtype: Any) -> Any:
    """Binomial variates of a key that was opened: of successes or failures the rarer is drawn."""
    n, p = lax.floor(full_parameter(n, shape, dtype)), full_parameter(p, shape, dtype)
    of = dtype.type
    rare = lax.lt(p, of(0.5))
    q = lax.select(rare, p, lax.sub(of(1), p))
    good = lax.bitwise_and(lax.ge(q, of(0)), lax.bitwise_and(lax.ge(n, of(0)), lax.is_finite(n)))
    # With other parameters the loops below would not end.
    trials = lax.select(good, n, lax.full_like(n, 0))
    q = lax.select(good, q, lax.full_like(q, 0.5))
    small = lax.le(lax.mul(trials, q), of(LARGE))
    few = _by_waiting(keys, lax.select(small, trials, lax.full_like(n, 0)), q, shape, dtype)
    many_n = lax.select(small, lax.full_like(n, 1e4), trials)
    many = _btrs(keys, many_n, lax.select(small, lax.full_like(q, 0.5), q), shape, dtype)
    drawn = lax.select(small, few, many)
    drawn = lax.select(rare, drawn, lax.sub(n, drawn))
    return lax.select(good, drawn, lax.full_like(drawn, np.nan))


def _by_waiting(keys: Key, n: Any, p: Any, shape: Shape, dtype: Any) -> Any:
    """The number of geometric waiting times that fit into ``n`` trials."""
    log_q = lax.log1p(lax.neg(p))

    def more(state: Any) -> Any:
        return lax.reduce_or_p.bind(lax.le(state[1], n), axes=tuple(range(len(shape))))

    def step(state: Any) -> Any:
        count, waited, key = state
        draw, again = split_keys(key, 2)
        count = lax.select(lax.le(waited, n), lax.add(count, dtype.type(1)), count)
        wait = lax.ceil(lax.div(lax.log(nonzero(unit(draw, shape, dtype))), log_q))
        return count, lax.add(waited, wait), again

    start = (lax.full(shape, 0, dtype), lax.full(shape, 0, dtype), keys)
    return lax.sub(lax.while_loop(more, step, start)[0], dtype.type(1))


def _btrs(keys: Key, n: Any, p: Any, shape: Shape, dtype: Any) -> Any:
    """Hörmann (1993), "The generation of binomial random variates", algorithm BTRS."""
    of = dtype.type
    spread = lax.sqrt(lax.mul(lax.mul(n, p), lax.sub(of(1), p)))
    b = lax.add(of(1.15), lax.mul(of(2.53), spread))
    a = lax.add(lax.add(of(-0.0873), lax.mul(of(0.0248), b)), lax.mul(of(0.01), p))
    c = lax.add(lax.mul(n, p), of(0.5))
    v_r = lax.sub(of(0.92), lax.div(of(4.2), b))
    r = lax.div(p, lax.sub(of(1), p))
    alpha = lax.mul(lax.add(of(2.83), lax.div(of(5.1), b)), spread)
    m = lax.floor(lax.mul(lax.add(n, of(1)), p))

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        us = lax.sub(of(0.5), lax.abs(u))
        slope = lax.add(lax.div(lax.mul(of(2), a), us), b)
        k = lax.floor(lax.add(lax.mul(slope, u), c))
        quick = lax.bitwise_and(lax.ge(us, of(0.07)), lax.le(v, v_r))
        inside = lax.bitwise_and(lax.ge(k, of(0)), lax.le(k, n))
        density = lax.add(lax.div(a, lax.mul(us, us)), b)
        bound = lax.log(lax.div(lax.mul(v, alpha), density))
        exact = lax.le(bound, _log_ratio(n, r, m, k))
        return k, lax.bitwise_or(quick, lax.bitwise_and(inside, exact))

    return until_accepted(keys, propose, shape, dtype, int(np.iinfo(np.int32).max))


def _log_ratio(n: Any, r: Any, m: Any, k: Any) -> Any:
    """The logarithm of the probability of ``k`` over that of the mode ``m``."""
    of = n.dtype.type
    past_m, past_k = (lax.add(lax.sub(n, x), of(1)) for x in (m, k))
    first = lax.mul(lax.add(m, of(0.5)), lax.log(lax.div(lax.add(m, of(1)), lax.mul(r, past_m))))
    second = lax.mul(lax.add(n, of(1)), lax.log(lax.div(past_m, past_k)))
    third = lax.mul(lax.add(k, of(0.5)), lax.log(lax.div(lax.mul(r, past_k), lax.add(k, of(1)))))
    tails = lax.add(_stirling_tail(m), _stirling_tail(lax.sub(n, m)))
    tails = lax.sub(lax.sub(tails, _stirling_tail(k)), _stirling_tail(lax.sub(n, k)))
    return lax.add(lax.add(lax.add(first, second), third), tails)


STIRLING = tuple(
    float(x)
    for x in (
        "0.0810614667953272 0.0413406959554092 0.0276779256849983 0.0207906721037650 "
        "0.0166446911898211 0.0138761288230707 0.0118967099458917 0.0104112652619720 "
        "0.00925546218271273 0.00833056343336287"
    ).split()
)
"""log(k!) less Stirling's formula for it, for k from 0 to 9."""


def _stirling_tail(k: Any) -> Any:
    of = k.dtype.type
    table = np.asarray(STIRLING, k.dtype)
    index = lax.convert_element_type(lax.clamp(of(0), lax.floor(k), of(9)), I32)
    exact = dnp.take(table, index)
    next_k = lax.add(k, of(1))
    square = lax.mul(next_k, next_k)
    inner = lax.sub(of(1 / 360), lax.div(of(1 / 1260), square))
    series = lax.div(lax.sub(of(1 / 12), lax.div(inner, square)), next_k)
    return lax.select(lax.le(k, of(9)), exact, series)


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Any:
    """Counts of each outcome in ``n`` trials.

    Args:
        key: a typed or a raw key.
        n: the number of trials, a number or an array.
        p: probabilities of the outcomes along the last axis; the others broadcast with ``n``.
        shape: the shape of the result, outcomes included; None for that of the parameters.
        dtype: that of the result; None for that of Python floats.
        unroll: as for ``dovetail.lax.scan`` over the outcomes.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    key = check_key("multinomial", key)
    n, p = arrays("multinomial", n, p)
    if not getattr(p, "shape", ()):
        raise ValueError(
            f"multinomial: p needs an axis, that of the outcomes; got a scalar{here()}"
        )
    result = float_dtype("multinomial", None) if dtype is None else dtypes.as_dtype(dtype)
    outcomes = p.shape[-1]
    trials = np.broadcast_shapes(np.shape(n), p.shape[:-1])
    wanted = (*trials, outcomes) if shape is None else integers("shape", shape)
    common_shape("multinomial", wanted, p)
    common_shape("multinomial", wanted[:-1], n)
    work = working_dtype(n, p)
    out = _multinomial(key, n, p, shape=wanted, dtype=work, unroll=unroll)
    return lax.convert_element_type(out, result)


@fused(static=("shape", "dtype", "unroll"))
def _multinomial(key: Any, n: Any, p: Any, *, shape: Shape, dtype: Any, unroll: Any) -> Any:
    # Outcome by outcome: its count is binomial among the trials that are left, with its share of
    # the probability that is left.
    outcomes, trials = shape[-1], shape[:-1]
    p = dnp.moveaxis(full_parameter(p, shape, dtype), -1, 0)
    n = full_parameter(n, trials, dtype)
    left = dnp.flip(dnp.cumsum(dnp.flip(p, 0), 0), 0)
    some = lax.gt(left, lax.full_like(left, 0))
    share = lax.select(some, lax.div(p, left), lax.full_like(p, 0))
    share = dnp.clip(share, 0, 1)
    keys = random_split_p.bind(open_key(key), shape=(outcomes - 1,), **how_drawn())

    def step(rest: Any, item: Any) -> Any:
        share, key = item
        count = binomial_of(key, rest, share, trials, dtype)
        return lax.sub(rest, count), count

    items = (lax.slice_in_dim(share, 0, outcomes - 1), keys)
    rest, counts = lax.scan(step, n, items, unroll=unroll)
    return dnp.moveaxis(lax.concatenate([counts, lax.expand_dims(rest, (0,))], 0), 0, -1)


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
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
        NotImplementedError: the key is not one of threefry's.
    """
    return drawn(_poisson, "poisson", key, (lam,), shape, dtype, out_sharding, int_dtype)


@fused(static=("shape", "dtype"))
def _poisson(key: Any, lam: Any, *, shape: Shape, dtype: Any) -> Any:
    keys = open_key(key)
    impl = keys.dtype.impl
    if impl.name != "threefry2x32":
        raise NotImplementedError(
            f"poisson draws with keys of 'threefry2x32' only, got one of {impl.name!r}{here()}"
        )
    lam = full_parameter(lam, shape, F32)
    small = lax.bitwise_or(lax.ne(lam, lam), lax.lt(lam, F32.type(LARGE)))
    limit = min(int(np.iinfo(dtype).max), int(np.iinfo(np.int32).max))
    few = _by_products(keys, lax.select(small, lam, lax.full_like(lam, 0)), shape, dtype, limit)
    many = _by_rejection(keys, lax.select(small, lax.full_like(lam, 1e5), lam), shape, dtype, limit)
    counts = lax.select(small, few, many)
    return lax.select(lax.eq(lam, F32.type(0)), lax.full_like(counts, 0), counts)


def _by_products(keys: Key, lam: Any, shape: Shape, dtype: Any, limit: int) -> Any:
    """Knuth's method: the count, less one, of uniform numbers whose product is below exp(-lam)."""
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
