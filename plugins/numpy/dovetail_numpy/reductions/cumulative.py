"""Running sums and products, and differences."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import here

from ..creation.arrays import as_array
from ..fusion import fused, of_one_array, one_call
from ..operands import Array, ArrayLike, DTypeLike, axis_index, integer, no_out
from ..operations import number, select, strong, truth
from ..promotion import convert, default_int, narrowed, requested
from .engine import sum_types

_RUNNING: dict[str, Any] = {"sum": lax.cumsum, "prod": lax.cumprod}


@fused(static=("kind", "axis", "dtype", "skip_nan"))
def _running(a: Any, kind: str, axis: int | None, dtype: Any, skip_nan: bool) -> Any:
    if axis is None:
        a, axis = lax.reshape(a, (a.size,)), 0
    if skip_nan and a.dtype.kind not in "biu":
        a = select(lax.ne(a, a), number(a, 0 if kind == "sum" else 1), a)
    if dtype.kind == "b":
        running = _RUNNING[kind](convert(truth(a), default_int()), axis=axis)
        return lax.ne(running, number(running, 0))
    return strong(_RUNNING[kind](convert(a, dtype), axis=axis))


def _cumulative(
    name: str, kind: str, a: ArrayLike, axis: Any, dtype: Any, out: Any, skip_nan: bool = False
) -> Array:
    no_out(name, out)
    a = as_array(name, a)
    if not a.ndim:
        a = lax.reshape(a, (1,))
    axis = None if axis is None else axis_index(name, axis, a.ndim)
    if dtype is None:
        dt = default_int() if a.dtype.kind == "b" else narrowed(a.dtype)
    else:
        dt = requested(dtype, a.dtype)
    return _running(a, kind=kind, axis=axis, dtype=dt, skip_nan=skip_nan)


@of_one_array("axis", "dtype", "out")
def cumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None
) -> Array:
    """Running sums along ``axis``, or of the flattened array."""
    return _cumulative("cumsum", "sum", a, axis, dtype, out)


@of_one_array("axis", "dtype", "out")
def cumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None
) -> Array:
    """Running products along ``axis``, or of the flattened array."""
    return _cumulative("cumprod", "prod", a, axis, dtype, out)


@of_one_array("axis", "dtype", "out")
def nancumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None
) -> Array:
    """Running sums in which NaN counts as 0."""
    return _cumulative("nancumsum", "sum", a, axis, dtype, out, True)


@of_one_array("axis", "dtype", "out")
def nancumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None
) -> Array:
    """Running products in which NaN counts as 1."""
    return _cumulative("nancumprod", "prod", a, axis, dtype, out, True)


def _cumulative_with_initial(
    name: str, kind: str, x: ArrayLike, axis: Any, dtype: Any, include_initial: bool
) -> Array:
    x = as_array(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name} needs at least one dimension, got a scalar{here()}")
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given for an array of {x.ndim} dimensions{here()}")
    axis = axis_index(name, 0 if axis is None else axis, x.ndim)
    _, dt = sum_types(x.aval, dtype, True)
    out = _running(x, kind=kind, axis=axis, dtype=dt, skip_nan=False)
    if include_initial:
        config = [(int(i == axis), 0, 0) for i in range(x.ndim)]
        out = lax.pad(out, number(out, 0 if kind == "sum" else 1), config)
    return out


def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Array:  # fmt: skip
    """Running sums along ``axis`` (needed if ``x`` is no vector); ``include_initial``: from 0.

    Raises:
        ValueError: ``x`` is a scalar, or has several dimensions and ``axis`` is None.
    """
    return _cumulative_with_initial("cumulative_sum", "sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Array:  # fmt: skip
    """Running products along ``axis`` (needed if ``x`` is no vector); ``include_initial``: from 1.

    Raises:
        ValueError: ``x`` is a scalar, or has several dimensions and ``axis`` is None.
    """
    return _cumulative_with_initial("cumulative_prod", "prod", x, axis, dtype, include_initial)


@one_call("n", "axis")
def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The ``n``-th differences of neighbours along ``axis``.

    Raises:
        ValueError: ``a`` is a scalar or ``n`` is negative.
    """
    from ..manipulation.joining import concatenate

    a = as_array("diff", a)
    if a.ndim == 0:
        raise ValueError(f"diff needs an array of at least one dimension, got a scalar{here()}")
    n = integer("diff", "n", n)
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}{here()}")
    axis = axis_index("diff", axis, a.ndim)
    parts = [_edge(a, e, axis) if e is not None else None for e in (prepend, append)]
    if n and any(p is not None for p in parts):
        a = concatenate([p for p in (parts[0], a, parts[1]) if p is not None], axis)
    return _diff(a, n=n, axis=axis)


def _edge(a: Any, edge: ArrayLike, axis: int) -> Any:
    edge = as_array("diff", edge)
    if edge.ndim:
        return edge
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    return lax.broadcast_in_dim(edge, shape, ())


@fused(static=("n", "axis"))
def _diff(a: Any, n: int, axis: int) -> Any:
    for _ in range(min(n, a.shape[axis])):
        size = a.shape[axis]
        later = lax.slice_in_dim(a, 1, size, axis=axis)
        earlier = lax.slice_in_dim(a, 0, size - 1, axis=axis)
        a = lax.ne(later, earlier) if a.dtype.kind == "b" else lax.sub(later, earlier)
    return a


@one_call()
def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> Array:
    """Differences of neighbours in the flattened array, with values put before and after."""
    a = as_array("ediff1d", ary)
    out = _diff(lax.reshape(a, (a.size,)), n=1, axis=0)
    ends = [None if e is None else strong(convert(as_array("ediff1d", e), out.dtype))
            for e in (to_begin, to_end)]  # fmt: skip
    flat = [e if e is None else lax.reshape(e, (e.size,)) for e in ends]
    return lax.concatenate([p for p in (flat[0], out, flat[1]) if p is not None], 0)
