"""Limiting values, and choosing between values by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import EVAL, Cache, get_trace, here, typeof

from ..creation.arrays import as_array
from ..functional import vectorize
from ..fusion import ARRAYS, fused, fused_when_evaluated, one_call
from ..operands import PYTHON_SCALARS, Array, ArrayLike, DTypeError, has_array_conversion, operand
from ..operations import shape_of, strong, truth
from ..promotion import broadcast, broadcast_shapes, common_type, convert, promote
from .arithmetic import MAXIMUM, MINIMUM
from .plans import by_configuration


@one_call()
def clip(
    arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None
) -> Array:
    """``arr`` with elements below ``min`` raised to it and elements above ``max`` lowered to it.

    Raises:
        TypeError: an argument is no array.
        ValueError: ``arr`` is complex.
    """
    if arr is None:
        raise TypeError(f"clip takes an array{here()}")
    arr = as_array("clip", arr)
    bounds = [None if b is None else operand("clip", b, i) for i, b in ((1, min), (2, max))]
    if arr.dtype.kind == "c" or any(b is not None and typeof(b).dtype.kind == "c" for b in bounds):  # type: ignore[attr-defined]
        raise ValueError(
            f"clip: complex numbers have no order{here()}. Clip real and imaginary parts."
        )
    return _clip(arr, *bounds)


@fused()
def _clip(arr: Any, low: Any, high: Any) -> Any:
    if low is not None:
        arr = MAXIMUM(low, arr)
    if high is not None:
        arr = MINIMUM(high, arr)
    return arr


_plans: Cache[Any, Any] = Cache()


def where(
    condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, /, *,
    size: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """``x`` where ``condition`` is true, else ``y``; with the condition alone, ``nonzero`` of it.

    Raises:
        DTypeError: only one of ``x`` and ``y`` is given; a TypeError and a ValueError.
        TypeError: an argument is no array, or shapes do not broadcast.
    """
    if x is None and y is None:
        from ..searching.finding import nonzero

        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise DTypeError(
            f"where takes either one argument or three, and none of three may be None{here()}"
        )
    if size is not None or fill_value is not None:
        raise ValueError(
            f"where: size and fill_value are for the form with the condition alone{here()}"
        )
    if get_trace() is EVAL:
        return _where_eager(condition, x, y)
    return _where(condition, x, y)


def _where(condition: Any, x: Any, y: Any) -> Any:
    types = (getattr(condition, "aval", condition.__class__), getattr(x, "aval", x.__class__),
             getattr(y, "aval", y.__class__))  # fmt: skip
    plan = _plans.get(types)
    try:
        return (plan or _where_miss)(condition, x, y)
    except TypeError:
        if plan is None or not any(map(has_array_conversion, (condition, x, y))):
            raise
        return _where_miss(condition, x, y)


def _not_three_arrays(condition: Any, x: Any, y: Any) -> bool:
    """True unless all are arrays, or numbers that need no check (see ``fusion``)."""
    if condition.__class__ not in ARRAYS:
        return True
    for v, other in ((x, y), (y, x)):
        kind = v.__class__
        if kind is int:
            if not -(2**31) <= v < 2**31:
                return True
            if other.__class__ in ARRAYS and (
                other.dtype.kind not in "if" or other.dtype.itemsize < 4
            ):
                return True
        elif kind is not float and kind not in ARRAYS:
            return True
    return False


_where.__name__ = "where"  # the name in reports of compilations
_where_eager = fused(unless=_not_three_arrays)(_where)


def _where_miss(condition: Any, x: Any, y: Any) -> Any:
    values = [operand("where", v, i) for i, v in enumerate((condition, x, y))]
    if not any(isinstance(v, (np.ndarray, np.generic)) for v in values):
        types: Any = tuple([getattr(v, "aval", v.__class__) for v in values])
        _plans[types] = by_configuration(_where_plan)
        return _plans[types](*values)
    return _where_plan(*values)(*values)


def _where_plan(condition: Any, x: Any, y: Any) -> Any:
    values = (condition, x, y)
    avals: list[Any] = [typeof(v) for v in values]
    dtype, weak = common_type(avals[1:])
    shape = broadcast_shapes("where", *(a.shape for a in avals))
    scalars = [v.__class__ in PYTHON_SCALARS for v in values]
    steps = [_case_step(a, dtype, weak, shape) for a in avals[1:]]

    def where(c: Any, a: Any, b: Any) -> Any:
        c = broadcast(truth(c), shape) if shape_of(c) else truth(c)
        return lax.select_n_p.bind(c, steps[1](b), steps[0](a))

    run = fused_when_evaluated(where)

    def plan(c: Any, a: Any, b: Any) -> Any:
        # Numbers are converted on the host, so that a traced program holds them as literals.
        a = convert(a, dtype, weak) if scalars[1] else a
        return run(c, a, convert(b, dtype, weak) if scalars[2] else b)

    return plan


def _case_step(aval: Any, dtype: Any, weak: bool, shape: tuple[int, ...]) -> Any:
    moves = aval.shape not in ((), shape)
    if not moves:
        return lambda v: convert(v, dtype, weak)
    return lambda v: broadcast(convert(v, dtype, weak), shape)


@reword_errors
def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> Array:
    """For each element the choice of the first condition that is true, else ``default``.

    Raises:
        ValueError: there are no conditions, or not as many as choices.
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            f"select takes as many choices as conditions, got {len(choicelist)} and "
            f"{len(condlist)}{here()}"
        )
    *choices, out = promote("select", *choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        out = where(as_array("select", condition), choice, out)
    return as_array("select", out)


@reword_errors
def piecewise(x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Functions of ``x``, each where its condition is true; one more function is for the rest.

    Functions may be numbers; others are applied to scalars, the elements of ``x``. They are all
    evaluated for all elements, as the branches of a mapped ``lax.switch`` are; no derivative comes
    from elements for which the condition of a function is false.

    Raises:
        ValueError: not as many functions as conditions, or one more.
    """
    x = as_array("piecewise", x)
    if isinstance(condlist, (list, tuple)):
        conditions = list(condlist)
    else:
        stacked = as_array("piecewise", condlist, 1)
        conditions = list(lax.unstack(stacked)) if stacked.ndim > x.ndim else [stacked]
    n = len(conditions)
    functions = list(funclist)
    if len(functions) not in (n, n + 1):
        raise ValueError(f"piecewise takes {n} or {n + 1} functions, got {len(functions)}{here()}")
    rest = functions.pop() if len(functions) == n + 1 else 0

    def branch(f: Any) -> Any:
        def value(v: Any) -> Any:
            return convert(as_array("piecewise", f(v, *args, **kw) if callable(f) else f), x.dtype)

        return value

    branches = [branch(f) for f in [rest, *functions]]
    index = lax.full(x.shape, 0, np.int32)
    # The last condition that is true decides, as in NumPy.
    for k, condition in enumerate(conditions, 1):
        index = where(as_array("piecewise", condition), np.int32(k), index)
    out = vectorize(lambda i, v: lax.switch(i, branches, v))(index, x)
    return strong(out)
