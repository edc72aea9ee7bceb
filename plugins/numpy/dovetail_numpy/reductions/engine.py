"""The engine of reductions: element types, masks, initial values, kept dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.source import called
from dovetail_core import Cache, ShapedArray, here
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import DTypeError, axis_tuple, flag, names_of, positions_of, static_axis
from ..operations import select, strong, truth
from ..promotion import broadcast, broadcast_shapes, convert, default_int, narrowed, requested

ACROSS: dict[str, Any] = {"sum": lax.psum, "max": lax.pmax, "min": lax.pmin}
"""The collective that joins the results of all instances, per kind that named axes have."""
REDUCERS: dict[str, Any] = {
    "sum": (lax.reduce_sum_p, lax.add, 0),
    "prod": (lax.reduce_prod_p, lax.mul, 1),
    "max": (lax.reduce_max_p, lax.max, None),
    "min": (lax.reduce_min_p, lax.min, None),
    "all": (lax.reduce_and_p, lax.bitwise_and, True),
    "any": (lax.reduce_or_p, lax.bitwise_or, False),
}
"""Per kind: the primitive, the function that joins an initial value, the identity or None."""

FLOAT16 = (np.dtype(np.float16), np.dtype(dtypes.bfloat16))
_axes_of: Cache[tuple[Any, int], tuple[int, ...]] = Cache()


def reduced_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes ``axis`` as positions in increasing order.

    Raises:
        NotImplementedError: it names axes of a map.
    """
    if axis.__class__ is int or axis is None:
        cached = _axes_of.get((axis, ndim))
        if cached is None:
            cached = _axes_of[axis, ndim] = axis_tuple(name, axis, ndim)
        return cached
    if names := names_of(axis):
        raise NotImplementedError(
            f"{name} is not defined over named axes, got {names}{here()}. Reduce over them by "
            "lax.psum, lax.pmax or lax.pmin."
        )
    return tuple(sorted(axis_tuple(name, static_axis(axis), ndim)))


def keep_dims(x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """A reduced array with the reduced axes back, of size 1."""
    if not axes:
        return x
    full = tuple([1 if i in axes else d for i, d in enumerate(shape)])
    dims = tuple([i for i in range(len(shape)) if i not in axes])
    return lax.broadcast_in_dim_p.bind(x, shape=full, broadcast_dimensions=dims)


def computation_type(dtype: Any) -> Any:
    """The dtype that sums of ``dtype`` are accumulated in: single precision for half precision."""
    if dtype in FLOAT16:
        return np.dtype(np.float32)
    return dtype


def refuse_keys(name: str, dtype: Any) -> None:
    """Refuse values that are no numbers.

    Raises:
        DTypeError: they are keys or the like.
    """
    if not isinstance(dtype, np.dtype):
        raise DTypeError(
            f"{name} takes arrays of numbers, got dtype {dtype}{called()}. Of keys, key_data(key) "
            "gives the words."
        )


def sum_types(aval: ShapedArray, dtype: Any, promote_integers: bool) -> tuple[Any, Any]:
    """The element types that a sum or product of ``aval`` computes in and returns."""
    if dtype is not None:
        result = requested(dtype, aval.dtype)
        if not isinstance(result, np.dtype):
            raise DTypeError(f"dtype must be one of numbers, got {result}{called()}")
        return (computation_type(result) if result.kind != "b" else default_int()), result
    own = aval.dtype
    refuse_keys("sum", own)
    if own.kind == "b":
        return default_int(), default_int()
    if promote_integers and own.kind in "iu" and own.itemsize < default_int().itemsize:
        wide = default_int() if own.kind == "i" else np.dtype(f"u{default_int().itemsize}")
        return wide, wide
    return computation_type(own), narrowed(own)


@fused(static=("kind", "axes", "compute", "result", "keepdims"))
def _masked_reduce(
    a: Any,
    initial: Any,
    where: Any,
    kind: str,
    axes: Any,
    compute: Any,
    result: Any,
    keepdims: bool,
) -> Any:
    prim, join, identity = REDUCERS[kind]
    a = convert(a, compute)
    if where is not None:
        fill = initial if identity is None else identity
        shape = broadcast_shapes(kind, a.shape, where.shape)
        filler = convert(fill, compute)
        a = select(broadcast(where, shape), broadcast(a, shape), filler)
    out = prim.bind(a, axes=axes) if axes else a
    if initial is not None:
        out = join(convert(initial, compute), out)
    out = strong(convert(out, result))
    return keep_dims(out, a.shape, axes) if keepdims else out


def reduce(
    name: str, kind: str, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any,
    compute: Any, result: Any,
) -> Any:  # fmt: skip
    """The general reduction, with every option of the public functions."""
    if result.kind == "b" and kind in ("sum", "prod"):  # fractions are true, too
        a = truth(a)
        if not names_of(axis):
            kind, compute = ("any" if kind == "sum" else "all"), result
        initial = None if initial is None else truth(as_array(name, initial))
    if kind in ACROSS and (names := names_of(axis)):
        own, sums = positions_of(axis), kind == "sum"
        out = reduce(
            name, kind, a, own, keepdims, None if sums else initial, where, compute, compute
        )
        out = ACROSS[kind](out, names)
        if sums and initial is not None:
            out = lax.add(out, convert(as_array(name, initial), compute))
        return convert(out, result)
    if where is not None:
        where = as_array(name, where)
        if where.dtype.kind != "b":
            raise DTypeError(
                f"{name}: where must be an array of booleans, got dtype {where.dtype}{here()}"
            )
        shape = broadcast_shapes(name, a.shape, where.shape)
        a = broadcast(a, shape)
    axes = reduced_axes(name, axis, a.ndim)
    if kind in ("max", "min") and initial is None:
        _check_has_identity(name, a, axes, where)
    if initial is not None:
        initial = as_array(name, initial)
        if initial.shape != ():
            raise ValueError(f"{name}: initial must be a scalar, got shape {initial.shape}{here()}")
    return _masked_reduce(a, initial, where, kind=kind, axes=axes, compute=compute, result=result,
                          keepdims=flag("keepdims", keepdims))  # fmt: skip


def _check_has_identity(name: str, a: Any, axes: tuple[int, ...], where: Any) -> None:
    if where is not None:
        raise ValueError(
            f"{name} of nothing has no value, so a where mask needs an initial value{here()}"
        )
    if any(a.shape[i] == 0 for i in axes):
        raise ValueError(
            f"{name} of an array of shape {a.shape} over axes {axes} is over no element and has no "
            f"value{here()}. Give an initial value."
        )
