"""Matrix, vector and tensor products by NumPy's rules for axes."""

from __future__ import annotations

from math import prod
from typing import Any

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here, type_shardings

from ..creation.arrays import as_array
from ..fusion import fused, of_two_arrays, one_call
from ..operands import Array, ArrayLike, axis_index, integer, no_out
from ..operations import reshape as to_shape
from ..promotion import broadcast_shapes, promote
from ..ufuncs.arithmetic import MULTIPLY, SUBTRACT
from .matmul import NO_AXES, PRODUCT_OPTIONS, contraction, matmul


def _tensordot(name: str, a: Any, b: Any, axes: Any, precision: Any, preferred: Any) -> Array:
    (one, two), (batch_a, batch_b) = axes
    for i, j in zip(one, two):
        if a.shape[i] != b.shape[j]:
            raise TypeError(
                f"{name} got operands of shapes {a.shape} and {b.shape}: axis {i} of the first "
                f"({a.shape[i]}) and axis {j} of the second ({b.shape[j]}) must be equal{here()}. "
                "Transpose or reshape one of them."
            )
    return contraction(((one, two), (batch_a, batch_b)), precision, preferred)(a, b)


def _pair(name: str, a: ArrayLike, b: ArrayLike) -> tuple[Any, Any]:
    x, y = promote(name, a, b)
    return as_array(name, x, 0), as_array(name, y, 1)


@lambda f: of_two_arrays(f, *PRODUCT_OPTIONS)
def dot(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over the last axis of ``a`` and the second to last of ``b``.

    Scalars multiply.

    Raises:
        TypeError: the sizes of those axes differ.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            dot,
            a,
            b,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )
    x, y = _pair("dot", a, b)
    if not x.ndim or not y.ndim:
        return MULTIPLY(x, y)
    axes = (((x.ndim - 1,), (max(y.ndim - 2, 0),)), (NO_AXES, NO_AXES))
    return _tensordot("dot", x, y, axes, precision, preferred_element_type)


@lambda f: of_two_arrays(f, "precision", "preferred_element_type")
def inner(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum of products over the last axes of both operands; scalars multiply."""
    x, y = _pair("inner", a, b)
    if not x.ndim or not y.ndim:
        return MULTIPLY(x, y)
    axes = (((x.ndim - 1,), (y.ndim - 1,)), (NO_AXES, NO_AXES))
    return _tensordot("inner", x, y, axes, precision, preferred_element_type)


@one_call("out", shared=True)
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """All products of elements of the flattened operands, as a matrix."""
    no_out("outer", out)
    x, y = (as_array("outer", v, i) for i, v in enumerate((a, b)))
    x, y = to_shape(x, (x.size,)), to_shape(y, (y.size,))
    return MULTIPLY(lax.expand_dims(x, (1,)), lax.expand_dims(y, (0,)))


@lambda f: of_two_arrays(f, "precision", "preferred_element_type")
def vdot(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum of products of all elements, those of ``a`` conjugated."""
    x, y = _pair("vdot", a, b)
    x = lax.conj(x) if x.dtype.kind == "c" else x
    one, two = to_shape(x, (x.size,)), to_shape(y, (y.size,))
    axes = (((0,), (0,)), (NO_AXES, NO_AXES))
    return _tensordot("vdot", one, two, axes, precision, preferred_element_type)


@reword_errors
def vecdot(
    x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over one axis, those of ``x1`` conjugated; other axes broadcast."""
    from ..manipulation.shapes import moveaxis

    x, y = _pair("vecdot", x1, x2)
    at = [axis_index("vecdot", axis, v.ndim) for v in (x, y)]
    if x.shape[at[0]] != y.shape[at[1]]:
        raise ValueError(
            f"vecdot got operands of shapes {x.shape} and {y.shape}: axis {axis} must exist in "
            f"both and have one size{here()}"
        )
    x = lax.conj(x) if x.dtype.kind == "c" else x
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    broadcast_shapes("vecdot", x.shape, y.shape)
    row, column = to_shape(x, (*x.shape[:-1], 1, x.shape[-1])), to_shape(y, (*y.shape, 1))
    out = matmul(row, column, precision=precision, preferred_element_type=preferred_element_type)
    return lax.squeeze(out, (out.ndim - 2, out.ndim - 1))


def _check_ranks(name: str, x: Any, y: Any, first: int, second: int) -> None:
    if x.ndim < first or y.ndim < second:
        raise ValueError(
            f"{name} got operands of shapes {x.shape} and {y.shape}: they need at least {first} "
            f"and {second} dimensions{here()}"
        )


@reword_errors
@one_call()
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Matrices by vectors: the last two axes of ``x1`` and the last of ``x2``."""
    x, y = _pair("matvec", x1, x2)
    _check_ranks("matvec", x, y, 2, 1)
    out = matmul(x, to_shape(y, (*y.shape, 1)))
    return lax.squeeze(out, (out.ndim - 1,))


@reword_errors
@one_call()
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Vectors, conjugated, by matrices: the last axis of ``x1`` and the last two of ``x2``."""
    x, y = _pair("vecmat", x1, x2)
    _check_ranks("vecmat", x, y, 1, 2)
    x = lax.conj(x) if x.dtype.kind == "c" else x
    out = matmul(to_shape(x, (*x.shape[:-1], 1, x.shape[-1])), y)
    return lax.squeeze(out, (out.ndim - 2,))


def tensordot(
    a: ArrayLike, b: ArrayLike, axes: Any = 2, *, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over pairs of axes.

    Args:
        axes: a number (the last ones of ``a`` with the first ones of ``b``), or a pair of axes or
            of sequences of axes.

    Raises:
        TypeError: axes do not exist or have different sizes.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            tensordot,
            a,
            b,
            axes,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )
    x, y = _pair("tensordot", a, b)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise TypeError(f"tensordot: axes must be a number or a pair, got {axes!r}{here()}")
        one, two = (tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in axes)
        if len(one) != len(two):
            raise TypeError(
                f"tensordot: {len(one)} axes of a and {len(two)} of b are to be paired{here()}"
            )
        one = tuple(axis_index("tensordot", i, x.ndim) for i in one)
        two = tuple(axis_index("tensordot", i, y.ndim) for i in two)
    else:
        n = integer("tensordot", "axes", axes)
        if n > min(x.ndim, y.ndim):
            raise TypeError(f"tensordot: {n} axes are more than operands of shapes {x.shape} and "
                            f"{y.shape} have{here()}")  # fmt: skip
        one, two = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    return _tensordot("tensordot", x, y, ((one, two), (NO_AXES, NO_AXES)), precision,
                      preferred_element_type)  # fmt: skip


@one_call()
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: every element of ``a`` times all of ``b``."""
    x, y = _pair("kron", a, b)
    n = max(x.ndim, y.ndim)
    one = (1,) * (n - x.ndim) + x.shape
    two = (1,) * (n - y.ndim) + y.shape
    left = to_shape(x, tuple(d for p in one for d in (p, 1)))
    right = to_shape(y, tuple(d for q in two for d in (1, q)))
    return to_shape(MULTIPLY(left, right), tuple(prod(p) for p in zip(one, two)))


@one_call("axisa", "axisb", "axisc", "axis")
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Array:  # fmt: skip
    """The vector product of vectors of two or three components along an axis.

    Raises:
        ValueError: the axes have other sizes than 2 and 3.
    """
    from ..manipulation.shapes import moveaxis

    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _pair("cross", a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(
            f"cross takes vectors of 2 or 3 components, got shapes {x.shape} and {y.shape} with "
            f"the components last{here()}"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    out = _cross(x, y)
    return out if flat else moveaxis(out, -1, axisc)


@fused()
def _cross(x: Any, y: Any) -> Any:
    def components(v: Any) -> list[Any]:
        parts = [lax.index_in_dim(v, i, v.ndim - 1, keepdims=False) for i in range(v.shape[-1])]
        return parts if len(parts) == 3 else [*parts, lax.full_like(parts[0], 0)]

    a, b = components(x), components(y)

    def term(i: int, j: int) -> Any:
        return SUBTRACT(MULTIPLY(a[i], b[j]), MULTIPLY(a[j], b[i]))

    if x.shape[-1] == y.shape[-1] == 2:
        return term(0, 1)
    parts = [term(1, 2), term(2, 0), term(0, 1)]
    return lax.stack(parts, axis=parts[0].ndim)
