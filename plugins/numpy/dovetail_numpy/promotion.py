"""Promotion: the element type and shape in which operands of different types meet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.errors import integer_too_large
from dovetail_base.source import is_hidden, warn_here
from dovetail_core import (
    Option,
    ShapedArray,
    StagedTracer,
    Var,
    canonical_dtype,
    config,
    enable_x64,
    here,
    is_inexact,
    registry,
    staging,
    typeof,
)
from dovetail_lax import dtypes, scalars
from dovetail_lax.errors import ShapeError

from .operands import PYTHON_SCALARS, ArrayLike, aval_of, operand


def called_by_library() -> bool:
    """True if a plugin that builds on this one asks for a promotion, False if a user does.

    Options about promotion apply to users' programs. Functions of plugins that build on this one
    (``scipy``, ``random``, ...) promote values of their own, which users could not change. Where
    such a function promotes its own arguments, by calling ``promote`` or ``check_ranks`` itself,
    options apply. This reads the stack, so it is called only where such an option is set.
    """
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    directly, building = True, _dependent_packages()
    while frame is not None and is_hidden(frame):
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in building:
            return not directly
        directly = False
        frame = frame.f_back
    return False


def _dependent_packages() -> set[str]:
    """The packages of plugins that require this one."""
    plugins = registry().plugins.values()
    needing = [p for p in plugins if p.manifest is not None and "numpy" in p.manifest.requires]
    return {p.target.partition(":")[0].partition(".")[0] for p in needing}


Shape = tuple[int, ...]
_CHOICES = ("allow", "warn", "raise")


def _check(value: object) -> object:
    if value not in _CHOICES:
        raise ValueError(f"numpy_rank_promotion is one of {', '.join(_CHOICES)}, not {value!r}")
    return value


numpy_rank_promotion = config.add(
    Option(
        "numpy_rank_promotion",
        "allow",
        "Whether arrays of different numbers of axes, except scalars, may broadcast together "
        "('allow', 'warn' or 'raise').",
        check=_check,
        traced=True,
    )
)
rank_promotion = numpy_rank_promotion.state


def ranks_allowed() -> str:
    """The value of the option ``numpy_rank_promotion`` for the caller."""
    chosen = rank_promotion.value
    return chosen if chosen == "allow" or not called_by_library() else "allow"


def mixes_ranks(shapes: Sequence[Shape]) -> bool:
    """True if shapes, except those of scalars, have different numbers of axes."""
    return len({len(s) for s in shapes if s}) > 1


def check_ranks(name: str, shapes: Sequence[Shape]) -> None:
    """Warn of different ranks, or refuse them, by the option ``numpy_rank_promotion``.

    Raises:
        ShapeError: the option is ``raise``; names the function and the shapes.
    """
    if not mixes_ranks(shapes):
        return
    text = (
        f"{name} got shapes of different numbers of axes: {', '.join(map(str, shapes))}{here()}. "
        "Add the axes that are missing (x[None], or expand_dims), or set the option "
        "numpy_rank_promotion to 'allow'."
    )
    if rank_promotion.value == "raise":
        raise ShapeError(f"operands could not be broadcast together: {text}")
    warn_here(text, UserWarning)


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
    """``dtype``, or the 32-bit type that replaces it where 64-bit types are not enabled."""
    return canonical_dtype(dtype) if dtype.itemsize >= 8 else dtype


def requested(dtype: Any, *sources: Any) -> Any:
    """The dtype that a user requests for values of dtypes ``sources``; warns of lost parts.

    Raises:
        TypeError: arrays cannot have it.
    """
    result = dtypes.as_dtype(dtype)
    for source in set(sources):
        dtypes.warn_imaginary(source, result)
    return result


def is_strict() -> bool:
    """True if promotion of arrays of different element types is an error for the caller."""
    return dtypes.numpy_dtype_promotion.value == "strict" and not called_by_library()


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
    # Wraps as arithmetic in the default integer type, followed by a conversion, would.
    if dtype.kind not in "iub":
        raise integer_too_large(x, dtype) from None
    bounds = np.iinfo(default_int())
    if not bounds.min <= x <= bounds.max and dtype.itemsize <= bounds.dtype.itemsize:
        raise integer_too_large(x, bounds.dtype)
    return np.asarray(x).astype(dtype)[()]


def is_weak_bool(aval: Any) -> bool:
    """True for the type of comparisons of weakly typed values, which promotion makes strong."""
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
        # NumPy values are never weakly typed, so it is converted by an operation.
        return lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=True)
    if aval.dtype == dtype and (weak or not is_weak_bool(aval)):
        return x
    return lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


_OF_ANY_RANKS = frozenset(
    "where broadcast_arrays heaviside choose full gcd lcm sum prod max min all any mean var "
    "std".split()
)
"""Functions to which the option ``numpy_rank_promotion`` does not apply, as in JAX."""


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
    """The operand of the broadcast that ``x`` comes from, and the positions of its axes.

    In a traced program two broadcasts in a row, such as that of ``x[:, None]``, become one.
    """
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
