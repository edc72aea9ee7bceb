"""Promotion: the element type and shape in which operands of different types meet."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.errors import integer_too_large
from dovetail_core import (
    ShapedArray,
    StagedTracer,
    Var,
    canonical_dtype,
    enable_x64,
    is_inexact,
    staging,
    typeof,
)
from dovetail_lax import dtypes, scalars

from .asking import asked_by_library
from .operands import PYTHON_SCALARS, ArrayLike, ShapeError, aval_of, here, operand
from .rank_promotion import check_ranks, ranks_allowed

x64 = enable_x64.state
FLOAT32 = np.dtype(np.float32)
INT32 = np.dtype(np.int32)
BOOL = np.dtype(np.bool_)
_PYTHON = {"bool": bool, "signed": int, "unsigned": int, "floating": float, "complex": complex}


def default_float() -> Any:
    """The dtype of a Python float: float32, or float64 with ``enable_x64``."""
    return canonical_dtype(np.float64)


def default_int() -> Any:
    """The dtype of a Python integer: int32, or int64 with ``enable_x64``."""
    return canonical_dtype(np.int64)


def inexact_dtype(dtype: Any) -> Any:
    """The floating-point type in which functions of reals compute values of ``dtype``."""
    if is_inexact(dtype):
        return dtype
    return canonical_dtype(np.float64 if dtype.itemsize == 8 else np.float32)


def narrowed(dtype: Any) -> Any:
    """``dtype``, or the 32-bit type in its place where 64-bit types are not enabled."""
    return canonical_dtype(dtype) if dtype.itemsize >= 8 else dtype


def requested(dtype: Any, *sources: Any) -> Any:
    """The dtype that a user asks for, for values of dtypes ``sources``; warns of what is lost.

    Raises:
        TypeError: arrays cannot have it.
    """
    result = dtypes.as_dtype(dtype)
    for source in set(sources):
        dtypes.warn_imaginary(source, result)
    return result


def is_strict() -> bool:
    """Whether arrays of different element types have no common one, for whoever asks."""
    return dtypes.numpy_dtype_promotion.value == "strict" and not asked_by_library()


def common_type(avals: list[ShapedArray], inexact: bool = False) -> tuple[Any, bool]:
    """The element type that operands of these types are promoted to, and whether it is weak."""
    types = [(a.dtype, a.weak_type) for a in avals]
    dtype, weak = dtypes.common_type(types, is_strict())
    return (inexact_dtype(dtype) if inexact else dtype), weak


def python_scalar(x: Any, dtype: Any, weak: bool = False) -> Any:
    """A Python number as an operand of element type ``dtype``.

    Raises:
        OverflowError: an integer that no array element of the default width holds.
    """
    if weak:
        return _weak_scalar(x, dtype)
    try:
        if dtype is FLOAT32 and x.__class__ in (int, float) and not x64.value:
            return float(x)  # whose weak type is float32
        return dtype.type(x) if dtype.itemsize < 8 or x64.value else scalars.cast_scalar(x, dtype)
    except OverflowError:
        return _wrapped(x, dtype)


def _weak_scalar(x: Any, dtype: Any) -> Any:
    kind = _PYTHON[dtypes.kind_of(dtype)]
    if kind is int:
        scalars.check_int(x)
    try:
        result = x if x.__class__ is kind else kind(x)
    except OverflowError:
        raise integer_too_large(x, dtype) from None
    if typeof(result).dtype == dtype:  # type: ignore[attr-defined]
        return result
    return lax.convert_element_type_p.bind(result, new_dtype=dtype, weak_type=True)


def _wrapped(x: int, dtype: Any) -> Any:
    # As arithmetic in the default integer type and a conversion afterwards would do.
    if dtype.kind not in "iub":
        raise integer_too_large(x, dtype) from None
    bounds = np.iinfo(default_int())
    if not bounds.min <= x <= bounds.max and dtype.itemsize <= bounds.dtype.itemsize:
        raise integer_too_large(x, bounds.dtype)
    return np.asarray(x).astype(dtype)[()]


def is_weak_bool(aval: Any) -> bool:
    """Whether a type is what comparisons of weakly typed values give; promotion makes it strong."""
    return aval.weak_type and aval.dtype == np.bool_


def convert(x: Any, dtype: Any, weak: bool = False) -> Any:
    """A value in element type ``dtype``; itself where it has it."""
    cls = x.__class__
    if cls in PYTHON_SCALARS:
        return python_scalar(x, dtype, weak)
    aval = getattr(x, "aval", None)
    if aval is None:
        if x.dtype == dtype:
            return x
        if not weak:
            return np.asarray(x).astype(dtype, copy=False)[()]
        # As a NumPy value, none of which is weakly typed, it would make the result strongly typed.
        return lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=True)
    if aval.dtype == dtype and (weak or not is_weak_bool(aval)):
        return x
    return lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


_OF_ANY_RANKS = frozenset(
    "where broadcast_arrays heaviside choose full gcd lcm sum prod max min all any mean var "
    "std".split()
)
"""Functions to which the option ``numpy_rank_promotion`` does not apply, in JAX neither."""


def broadcast_shapes(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which all of ``shapes`` broadcast.

    Raises:
        ShapeError: they do not, or the option ``numpy_rank_promotion`` allows no different ranks;
            names the function and the shapes.
    """
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    if ranks_allowed() != "allow" and name not in _OF_ANY_RANKS:
        check_ranks(name, shapes)
    ndim = max(map(len, shapes))
    out = [1] * ndim
    for shape in shapes:
        offset = ndim - len(shape)
        for i, d in enumerate(shape):
            if d != 1:
                if out[offset + i] not in (1, d):
                    raise ShapeError(
                        f"{name} got shapes that cannot be broadcast together: "
                        f"{', '.join(map(str, shapes))}{here()}. Aligned from the right, each "
                        "dimension must be equal or 1: reshape, or add axes with x[..., None]."
                    )
                out[offset + i] = d
    return tuple(out)


def broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """``x`` broadcast to ``shape``, by one operation; itself where it has that shape."""
    own = x.shape if hasattr(x, "shape") else ()
    if own == shape:
        return x
    dims = tuple(range(len(shape) - len(own), len(shape)))
    if 1 in own:
        x, dims = _before_broadcast(x, dims)
    return lax.broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims)


def _before_broadcast(x: Any, dims: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """What ``x`` was made of where a traced program has it from a broadcast, such as that of
    ``x[:, None]``, and where its axes go: two in a row are one."""
    result = staging.definition_of(x)
    if result is None:
        return x, dims
    trace, eqn = result
    if eqn.primitive is not lax.broadcast_in_dim_p or not isinstance(eqn.invars[0], Var):
        return x, dims
    trace.supersede(x)
    first = eqn.params["broadcast_dimensions"]
    return StagedTracer(trace, eqn.invars[0]), tuple([dims[d] for d in first])


def promote(name: str, *xs: ArrayLike, inexact: bool = False) -> list[Any]:
    """The arguments in their common element type, shapes as they are.

    Raises:
        TypeError: an argument is no array, or there is no common type.
    """
    values = [operand(name, x, i) for i, x in enumerate(xs)]
    avals: list[Any] = [typeof(v) for v in values]
    first = avals[0].dtype
    if all(a.dtype == first for a in avals) and (not inexact or is_inexact(first)):
        dtype, weak = first, first != np.bool_ and all(a.weak_type for a in avals)
    else:
        dtype, weak = common_type(avals, inexact)
    return [convert(v, dtype, weak) for v in values]


def promote_shapes(name: str, *xs: Any) -> list[Any]:
    """Values broadcast to their common shape; scalars stay scalars."""
    shapes = [np.shape(x) if x.__class__ in PYTHON_SCALARS else x.shape for x in xs]
    shape = broadcast_shapes(name, *shapes)
    return [x if s == () else broadcast(x, shape) for x, s in zip(xs, shapes)]


def promote_all(name: str, *xs: ArrayLike, inexact: bool = False) -> list[Any]:
    """The arguments in their common element type and shape; scalars stay scalars."""
    return promote_shapes(name, *promote(name, *xs, inexact=inexact))


def kind(x: Any) -> str:
    """``bool``, ``signed``, ``unsigned``, ``floating`` or ``complex``: of a value or a dtype."""
    return dtypes.kind_of(x if isinstance(x, np.dtype) else aval_of("kind", x).dtype)
