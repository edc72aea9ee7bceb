"""The evaluation of special functions: types of arguments and results, and derivative rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import jvp
from dovetail_core import cached, canonical_dtype, here, is_inexact
from dovetail_custom_rules import SymbolicZero, custom_jvp
from dovetail_jit import fused
from dovetail_lax import dtypes
from dovetail_lax.errors import ElementTypeError
from dovetail_numpy import operands, promotion

Array = Any
ArrayLike = Any
F = TypeVar("F", bound=Callable[..., Any])
Partial = Callable[..., Any]
"""A function from a function's result and arguments to its derivative in one of them."""

_FLOAT32 = np.dtype(np.float32)


_STRONG = frozenset(
    "beta erfcx exp1 expi expn fresnel gamma gammasgn hyp1f1 hyp2f1 log_ndtr multigammaln ndtr "
    "ndtri poch sici spence norm.cdf norm.isf norm.logcdf norm.logsf norm.ppf norm.sf "
    "truncnorm.cdf truncnorm.logcdf truncnorm.logpdf truncnorm.logsf truncnorm.pdf truncnorm.sf "
    "uniform.cdf".split()
)
"""Functions whose results are strongly typed also for Python numbers, as in JAX."""


def evaluate(name: str, f: Callable[..., Any], *args: ArrayLike, complex: bool = False) -> Any:
    """``f`` of the arguments as arrays of one shape and floating-point type, of 32 bits at least.

    Integers become floating-point numbers; types of 16 bits and fewer are computed in float32, and
    rounded once. Results are weakly typed if all arguments are, except as in JAX (``_STRONG``).

    Args:
        complex: whether ``f`` takes complex numbers, too.

    Raises:
        TypeError: an argument is no array and no number, or complex where ``f`` is real.
        ValueError: shapes do not broadcast.
    """
    values = [_array(name, x, i) for i, x in enumerate(args)]
    dtype, weak = dtypes.common_type([(v.dtype, v.aval.weak_type) for v in values])
    weak = weak and name not in _STRONG
    if not is_inexact(dtype):
        dtype = canonical_dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    shape = _common_shape(name, [v.shape for v in values])
    if dtype.kind == "c" and not complex:
        raise ElementTypeError(
            f"{name} takes real numbers, got {dtype.name}{here()}. Pass the real part, or convert "
            "the argument."
        )
    work = dtype if dtype.itemsize >= 4 else _FLOAT32
    out = f(*[_prepared(v, shape, work) for v in values])
    if work == dtype and not weak:
        return out
    if isinstance(out, tuple):
        return tuple([_finished(o, dtype, weak) for o in out])
    return _finished(out, dtype, weak)


_TAKE_LISTS = ("hyp1f1", "hyp2f1")
"""Functions that take lists, as in JAX; others take arrays and numbers only."""


def _array(name: str, x: Any, position: int) -> Any:
    if hasattr(x, "aval"):
        return x
    if isinstance(x, (list, tuple)) and name in _TAKE_LISTS:
        return dnp.asarray(x)
    return dnp.asarray(operands.operand(name, x, position))


def _common_shape(name: str, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    if promotion.rank_promotion.value != "allow":
        promotion.check_ranks(name, shapes)
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"{name} got shapes that cannot be broadcast together: {', '.join(map(str, shapes))}"
            f"{here()}. Aligned from the right, each dimension must be equal or 1."
        ) from None


def _prepared(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if x.dtype != dtype or x.aval.weak_type:
        x = lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)
    return x if x.shape == shape else dnp.broadcast_to(x, shape)


def _finished(x: Any, dtype: Any, weak: bool) -> Any:
    if (x.dtype.kind == "c") != (dtype.kind == "c"):  # a complex function of real arguments
        dtype, weak = x.dtype, False
    return lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


def differentiable(*partials: Partial | str) -> Callable[[F], F]:
    """Decorator: give an elementwise function its derivatives, one for each argument.

    Each is a function of the result and the arguments, or the message of the error if there is
    none. A derivative is computed only if it is needed, and evaluated eagerly as one program.
    """
    slopes = [p if isinstance(p, str) else fused()(p) for p in partials]

    def decorate(f: F) -> F:
        function: Any = custom_jvp(fused()(f))

        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            out, total = function(*primals), None
            for slope, t in zip(slopes, tangents):
                if isinstance(t, SymbolicZero):
                    continue
                if isinstance(slope, str):
                    raise NotImplementedError(f"{slope}{here()}")
                term = dnp.multiply(slope(out, *primals), t)
                total = term if total is None else lax.add(total, term)
            return out, lax.full_like(out, 0) if total is None else total

        function.defjvp(rule, symbolic_zeros=True)
        return function

    return decorate


def slope_of(f: Callable[..., Any], *args: Any, argnum: int = 0) -> Any:
    """The derivative of an elementwise function in one of its arguments, by forward mode."""

    def of_one(x: Any) -> Any:
        return f(*args[:argnum], x, *args[argnum + 1 :])

    return jvp(of_one, (args[argnum],), (lax.full_like(args[argnum], 1),))[1]


@cached
def partial_of(f: Callable[..., Any], argnum: int, arity: int) -> Any:
    """The derivative of ``f`` in an argument as a function that has derivatives of any order.

    They are by forward mode, so that ``f`` may have loops with an unknown number of iterations.
    """

    def slope(*args: Any) -> Any:
        return slope_of(f, *args, argnum=argnum)

    def partial(k: int) -> Partial:
        return lambda out, *args: partial_of(slope, k, arity)(*args)

    return differentiable(*[partial(k) for k in range(arity)])(slope)


def by_forward_mode(f: Callable[..., Any], argnum: int, arity: int) -> Partial:
    """A derivative for :func:`differentiable`, by forward mode through the computation of ``f``."""
    return lambda out, *args: partial_of(f, argnum, arity)(*args)
