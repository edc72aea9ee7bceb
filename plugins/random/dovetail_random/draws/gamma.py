"""Gamma variates: the primitive ``random_gamma`` and the functions that apply it."""

from __future__ import annotations

from math import prod
from typing import Any

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import Primitive, ShapedArray, here

from ..arguments import Shape, drawn, full_parameter, open_key
from ..implementations import KeyType, fused
from ..keys import Key
from ..primitives import random_split_p
from ..threefry import arranged, how_drawn
from .continuous import exponential_of
from .normal import normal_of
from .uniform import nonzero, split_keys, unit

random_gamma_p = Primitive("random_gamma")
random_gamma_p.def_traits(
    parameters={
        "log_space": "True: logarithms are drawn",
        "partitionable": "False: threefry arranges its bits as without threefry_partitionable",
    }
)
"""A gamma variate for each element: operands are keys and the shape parameter.

They have one shape. With ``log_space`` the result is the variate's logarithm.
"""


@random_gamma_p.def_abstract_eval
def _type(
    keys: ShapedArray, alpha: ShapedArray, *, log_space: bool, partitionable: bool = True
) -> ShapedArray:
    if keys.shape != alpha.shape or not isinstance(keys.dtype, KeyType):
        raise TypeError(
            "random_gamma takes typed keys and a parameter of their shape, got "
            f"{keys.str_short()} and {alpha.str_short()}{here()}"
        )
    return alpha.strong()


@random_gamma_p.def_decomposition
def _random_gamma(keys: Key, alpha: Any, *, log_space: bool, partitionable: bool = True) -> Any:
    return arranged(partitionable, _variates, keys, alpha, log_space)


def _variates(keys: Key, alpha: Any, log_space: bool) -> Any:
    shape = alpha.shape

    def one(key: Key, alpha: Any) -> Any:
        return _variate(key, alpha, log_space)

    if not shape:
        return one(keys, alpha)
    operands = tuple([lax.reshape(x, (prod(shape),)) for x in (keys, alpha)])
    if keys.dtype.impl.elementwise:
        return lax.reshape(vmap(one)(*operands), shape)
    return lax.reshape(lax.map(lambda pair: one(*pair), operands), shape)


def _variate(keys: Key, alpha: Any, log_space: bool) -> Any:
    """One gamma variate by the method of Marsaglia and Tsang (2000).

    With d = alpha - 1/3 and c = 1 / sqrt(9 d), d (1 + c x)**3 of a normal x is nearly gamma
    distributed, and is accepted with a probability that makes it so. It needs alpha >= 1; below,
    a variate of alpha + 1 times u**(1 / alpha) of a uniform u is one of alpha.
    """
    dtype = alpha.dtype
    one = dtype.type(1)
    large = lax.ge(alpha, one)
    d = lax.sub(lax.select(large, alpha, lax.add(alpha, one)), dtype.type(1 / 3))
    c = lax.div(dtype.type(1 / 3), lax.sqrt(d))
    proposals, boost = split_keys(keys, 2)
    start = (proposals, dtype.type(0), one, dtype.type(2))  # this one is rejected
    cube = lax.while_loop(
        lambda state: _rejected(d, *state[1:]), lambda state: _proposal(c, state[0]), start
    )[2]
    if log_space:
        log_u = lax.neg(exponential_of(boost, (), dtype))
        scaled = lax.mul(log_u, lax.div(one, alpha))
        unchanged = lax.bitwise_or(large, lax.eq(log_u, dtype.type(0)))
        log_boost = lax.select(unchanged, lax.full_like(scaled, 0), scaled)
        return lax.add(lax.add(lax.log(d), lax.log(cube)), log_boost)
    u = lax.sub(one, unit(boost, (), dtype))
    factor = lax.pow(u, lax.div(one, alpha))
    return lax.mul(lax.mul(d, cube), lax.select(large, lax.full_like(factor, 1), factor))


def _proposal(c: Any, key: Key) -> tuple[Any, ...]:
    """The next key, and x**2, (1 + c x)**3 and a uniform number to accept it by."""
    dtype = c.dtype
    next_key, x_key, u_key = split_keys(key, 3)

    def another(state: Any) -> Any:
        again, draw = split_keys(state[0], 2)
        x = normal_of(draw, (), dtype)
        return again, x, lax.add(dtype.type(1), lax.mul(x, c))

    start = (x_key, dtype.type(0), dtype.type(-1))
    _, x, v = lax.while_loop(lambda state: lax.le(state[2], dtype.type(0)), another, start)
    u = nonzero(unit(u_key, (), dtype))  # 0 would accept any proposal
    return next_key, lax.mul(x, x), lax.mul(lax.mul(v, v), v), u


def _rejected(d: Any, square: Any, cube: Any, u: Any) -> Any:
    """True where u is above the acceptance probability, by the quick bound and by the exact one."""
    of = square.dtype.type
    quick = lax.ge(u, lax.sub(of(1), lax.mul(of(0.0331), lax.mul(square, square))))
    exponent = lax.mul(d, lax.add(lax.sub(of(1), cube), lax.log(cube)))
    exact = lax.ge(lax.log(u), lax.add(lax.mul(square, of(0.5)), exponent))
    return lax.bitwise_and(quick, exact)


def gamma_of(keys: Key, alpha: Any, shape: Shape, dtype: Any, log_space: bool) -> Any:
    """Gamma variates of a key that was opened, one key made of it for each element."""
    alpha = full_parameter(alpha, shape, dtype)
    each = random_split_p.bind(keys, shape=shape, **how_drawn())
    return random_gamma_p.bind(each, alpha, log_space=log_space, **how_drawn())


@fused(static=("shape", "dtype"))
def _gamma(key: Any, a: Any, *, shape: Shape, dtype: Any) -> Any:
    return gamma_of(open_key(key), a, shape, dtype, False)


@fused(static=("shape", "dtype"))
def _loggamma(key: Any, a: Any, *, shape: Shape, dtype: Any) -> Any:
    return gamma_of(open_key(key), a, shape, dtype, True)


def gamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from the gamma distribution of shape ``a`` and scale 1.

    They have derivatives in ``a``. For small ``a`` most of them underflow: see :func:`loggamma`.

    Args:
        key: a typed or a raw key.
        a: a number, or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``a``.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return drawn(_gamma, "gamma", key, (a,), shape, dtype, out_sharding)


def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Logarithms of numbers drawn from the gamma distribution (see :func:`gamma`)."""
    return drawn(_loggamma, "loggamma", key, (a,), shape, dtype, out_sharding)
