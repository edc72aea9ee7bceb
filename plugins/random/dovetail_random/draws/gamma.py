"""Gamma variates: the primitive ``random_gamma`` and the functions that apply it."""

from __future__ import annotations

from math import prod
from typing import Any

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import Primitive, ShapedArray, here
from dovetail_core.base.arguments import no_sharding

from ..arguments import Shape, arrays, check_key, common_shape, float_dtype
from ..fusing import fused
from ..implementations import Implementation
from ..keys import KeyArray, open_key
from ..lanes import Lanes
from .continuous import exponential_of
from .normal import normal_of
from .rejection import filled
from .uniform import split_keys, unit

random_gamma_p = Primitive("random_gamma")
random_gamma_p.def_traits(
    parameters={"impl": "kind of the key", "log_space": "whether logarithms are drawn"}
)
"""A gamma variate for each element: operands are the words of a key and the shape parameter.

All operands have one shape. With ``log_space`` the result is the variate's logarithm.
"""


@random_gamma_p.def_abstract_eval
def _type(*avals: ShapedArray, impl: Implementation, log_space: bool) -> ShapedArray:
    if len({a.shape for a in avals}) != 1 or len(avals) != impl.words + 1:
        raise TypeError(
            f"random_gamma takes {impl.words} words of keys and a parameter, of one shape; got "
            f"{', '.join(a.str_short() for a in avals)}{here()}"
        )
    return avals[-1].strong()  # type: ignore[return-value]


@random_gamma_p.def_decomposition
def _random_gamma(*operands: Any, impl: Implementation, log_space: bool) -> Any:
    shape = operands[-1].shape

    def one(alpha: Any, *lanes: Any) -> Any:
        return _variate(KeyArray(impl, lanes), alpha, log_space)

    if not shape:
        return one(operands[-1], *operands[:-1])
    *lanes, alpha = (lax.reshape(x, (prod(shape),)) for x in operands)
    if impl.elementwise:
        return lax.reshape(vmap(one)(alpha, *lanes), shape)
    return lax.reshape(lax.map(lambda operands: one(*operands), (alpha, *lanes)), shape)


def _variate(keys: KeyArray, alpha: Any, log_space: bool) -> Any:
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
    start = (proposals.lanes, dtype.type(0), one, dtype.type(2))  # this one is rejected
    impl = keys.impl
    cube = lax.while_loop(
        lambda state: _rejected(d, *state[1:]), lambda state: _proposal(impl, c, state[0]), start
    )[2]
    if log_space:
        log_u = lax.neg(exponential_of(boost, (), dtype))
        scaled = lax.mul(log_u, lax.div(one, alpha))
        kept = lax.bitwise_or(large, lax.eq(log_u, dtype.type(0)))
        log_boost = lax.select(kept, lax.full_like(scaled, 0), scaled)
        return lax.add(lax.add(lax.log(d), lax.log(cube)), log_boost)
    u = lax.sub(one, unit(boost, (), dtype))
    factor = lax.pow(u, lax.div(one, alpha))
    return lax.mul(lax.mul(d, cube), lax.select(large, lax.full_like(factor, 1), factor))


def _proposal(impl: Implementation, c: Any, lanes: Lanes) -> tuple[Any, ...]:
    """The next key, and x**2, (1 + c x)**3 and a uniform number to accept it by."""
    dtype = c.dtype
    next_key, x_key, u_key = split_keys(KeyArray(impl, lanes), 3)

    def another(state: Any) -> Any:
        again, draw = split_keys(KeyArray(impl, state[0]), 2)
        x = normal_of(draw, (), dtype)
        return again.lanes, x, lax.add(dtype.type(1), lax.mul(x, c))

    start = (x_key.lanes, dtype.type(0), dtype.type(-1))
    _, x, v = lax.while_loop(lambda state: lax.le(state[2], dtype.type(0)), another, start)
    u = unit(u_key, (), dtype)
    return next_key.lanes, lax.mul(x, x), lax.mul(lax.mul(v, v), v), u


def _rejected(d: Any, square: Any, cube: Any, u: Any) -> Any:
    """Whether u is above the acceptance probability, by the quick bound and by the exact one."""
    of = square.dtype.type
    quick = lax.ge(u, lax.sub(of(1), lax.mul(of(0.0331), lax.mul(square, square))))
    exponent = lax.mul(d, lax.add(lax.sub(of(1), cube), lax.log(cube)))
    exact = lax.ge(lax.log(u), lax.add(lax.mul(square, of(0.5)), exponent))
    return lax.bitwise_and(quick, exact)


def gamma_of(keys: KeyArray, alpha: Any, shape: Shape, dtype: Any, log_space: bool) -> Any:
    """Gamma variates of a key that was opened, one key made of it for each element."""
    alpha = filled(alpha, shape, dtype)
    lanes = keys.impl.split(keys.lanes, (prod(shape),))
    each = [lax.reshape(x, shape) for x in lanes]
    return random_gamma_p.bind(*each, alpha, impl=keys.impl, log_space=log_space)


@fused(static=("shape", "dtype", "log_space"))
def _gamma(key: Any, a: Any, *, shape: Shape, dtype: Any, log_space: bool) -> Any:
    return gamma_of(open_key(key), a, shape, dtype, log_space)


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    return _checked("gamma", key, a, shape, dtype, out_sharding, False)


def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Logarithms of numbers drawn from the gamma distribution (see :func:`gamma`)."""
    return _checked("loggamma", key, a, shape, dtype, out_sharding, True)


def _checked(
    name: str, key: Any, a: Any, shape: Any, dtype: Any, sharding: Any, log_space: bool
) -> Any:
    no_sharding(name, sharding)
    key = check_key(name, key)
    (a,) = arrays(name, a)
    found = float_dtype(name, dtype)
    return _gamma(key, a, shape=common_shape(name, shape, a), dtype=found, log_space=log_space)
