"""Matrix, vector and tensor products by NumPy's rules for axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import dovetail_lax as lax
from dovetail_core import ShapedArray, typeof

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import Array, ArrayLike, axis_index, integer, operand
from ..operations import reshape as to_shape, transpose as permute
from ..promotion import common_type, convert, promote
from ..ufuncs.arithmetic import MULTIPLY

Plan = Callable[[Any, Any], Any]
_NO_AXES: tuple[int, ...] = ()


def contraction(dims: Any, precision: Any = None, preferred: Any = None) -> Plan:
    """``dot_general`` with fixed parameters, of operands of one element type."""
    if precision is None and preferred is None:
        return partial(lax.dot_general_p.bind, dimension_numbers=dims, precision=None,
                       preferred_element_type=None)  # fmt: skip
    return partial(lax.dot_general, dimension_numbers=dims, precision=precision,
                   preferred_element_type=preferred)  # fmt: skip


class MatMul:
    """Products of the last axes, with a plan kept for each pair of operand types."""

    __slots__ = ("name", "plans")

    def __init__(self, name: str) -> None:
        self.name = name
        self.plans: dict[Any, Plan] = {}

    def __call__(self, x: Any, y: Any) -> Any:
        plan = self.plans.get((getattr(x, "aval", None), getattr(y, "aval", None)))
        return self.miss(x, y) if plan is None else plan(x, y)

    def miss(self, x: Any, y: Any, precision: Any = None, preferred: Any = None) -> Any:
        """The product of operands whose types were not seen before, or are NumPy's."""
        x, y = operand(self.name, x, 0), operand(self.name, y, 1)
        types: tuple[Any, Any] = (typeof(x), typeof(y))
        plain = precision is None and preferred is None
        plan = self.plans.get(types) if plain else None
        if plan is None:
            plan = self.plan(*types, precision, preferred)
            if plain:
                self.plans[types] = plan
        return plan(x, y)

    def plan(self, a: ShapedArray, b: ShapedArray, precision: Any, preferred: Any) -> Plan:
        """What to do for operands of these types.

        Raises:
            ValueError: an operand is a scalar.
            TypeError: the contracted axes have different sizes; names the shapes.
        """
        self._check(a, b)
        dtype, weak = common_type([a, b])
        product = _matmul_plan(a.shape, b.shape, precision, preferred)
        if a.dtype == b.dtype:
            return product
        return fused()(lambda x, y: product(convert(x, dtype, weak), convert(y, dtype, weak)))

    def _check(self, a: ShapedArray, b: ShapedArray) -> None:
        for i, v in enumerate((a, b)):
            if not v.shape:
                raise ValueError(
                    f"{self.name} needs operands of at least one dimension, operand {i} is a "
                    "scalar. Use multiply."
                )
        k, j = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else 0]
        if k != j:
            raise TypeError(
                f"{self.name} got operands of shapes {a.shape} and {b.shape}: the last dimension "
                f"of the first ({k}) and the {'second to last' if len(b.shape) > 1 else 'only'} "
                f"one of the second ({j}) must be equal"
            )


def _matmul_plan(a: tuple[int, ...], b: tuple[int, ...], precision: Any, preferred: Any) -> Plan:
    n, m = len(a), len(b)
    if m <= 2:
        return contraction(
            (((n - 1,), (max(m - 2, 0),)), (_NO_AXES, _NO_AXES)), precision, preferred
        )
    if n == m and a[:-2] == b[:-2]:
        batch = tuple(range(n - 2))
        return contraction((((n - 1,), (m - 2,)), (batch, batch)), precision, preferred)
    return _broadcast_plan(a, b, precision, preferred)


def _broadcast_plan(a: tuple[int, ...], b: tuple[int, ...], precision: Any, preferred: Any) -> Plan:
    """Batch axes that only one operand has are free axes of it: nothing is repeated."""
    rows = (len(a) - 1,) if len(a) == 1 else (len(a) - 2, len(a) - 1)
    stack_a, stack_b = a[: len(a) - len(rows)], b[:-2]
    rank = max(len(stack_a), len(stack_b))
    full_a = (None,) * (rank - len(stack_a)) + stack_a
    full_b = (None,) * (rank - len(stack_b)) + stack_b
    drop_a, drop_b, batch, only_a, only_b = [], [], [], [], []
    for i, (p, q) in enumerate(zip(full_a, full_b)):
        if p == q:
            batch.append(i)
        elif q is None or (q == 1 and p is not None):
            only_a.append(i)
            drop_b += [] if q is None else [i - (rank - len(stack_b))]
        elif p is None or p == 1:
            only_b.append(i)
            drop_a += [] if p is None else [i - (rank - len(stack_a))]
        else:
            raise TypeError(
                f"matmul got shapes {a} and {b}, whose leading dimensions do not broadcast"
            )
    left = [i for i in range(rank) if i in batch or i in only_a]
    right = [i for i in range(rank) if i in batch or i in only_b]
    summed = (len(left) + len(rows) - 1,), (len(right),)
    dims = summed, (tuple(left.index(i) for i in batch), tuple(right.index(i) for i in batch))
    # Axes as they come out: batch, the first operand's own, its row axis, the second's, columns.
    names = [*batch, *only_a, *(["row"] if len(rows) == 2 else []), *only_b, "column"]
    wanted = [*range(rank), *(["row"] if len(rows) == 2 else []), "column"]
    order = tuple(names.index(w) for w in wanted)
    product = contraction(dims, precision, preferred)

    def plan(x: Any, y: Any) -> Any:
        x = lax.squeeze(x, drop_a) if drop_a else x
        y = lax.squeeze(y, drop_b) if drop_b else y
        return permute(product(x, y), order)

    return fused()(plan)


MATMUL = MatMul("matmul")


def matmul(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The matrix product over the last two axes; other axes broadcast. Vectors are contracted.

    Raises:
        ValueError: an operand is a scalar.
        TypeError: sizes do not match; names the shapes.
    """
    if precision is None and preferred_element_type is None:
        return MATMUL(a, b)
    return MATMUL.miss(a, b, precision, preferred_element_type)


def _tensordot(name: str, a: Any, b: Any, axes: Any, precision: Any, preferred: Any) -> Array:
    (one, two), (batch_a, batch_b) = axes
    for i, j in zip(one, two):
        if a.shape[i] != b.shape[j]:
            raise TypeError(
                f"{name} got operands of shapes {a.shape} and {b.shape}: axis {i} of the first "
                f"({a.shape[i]}) and axis {j} of the second ({b.shape[j]}) must be equal"
            )
    return contraction(((one, two), (batch_a, batch_b)), precision, preferred)(a, b)


def _pair(name: str, a: ArrayLike, b: ArrayLike) -> tuple[Any, Any]:
    x, y = promote(name, a, b)
    return as_array(name, x, 0), as_array(name, y, 1)


def dot(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over the last axis of ``a`` and the second to last of ``b``.

    Scalars multiply.

    Raises:
        TypeError: the sizes of those axes differ.
    """
    x, y = _pair("dot", a, b)
    if not x.ndim or not y.ndim:
        return MULTIPLY(x, y)
    axes = (((x.ndim - 1,), (max(y.ndim - 2, 0),)), (_NO_AXES, _NO_AXES))
    return _tensordot("dot", x, y, axes, precision, preferred_element_type)


def inner(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum of products over the last axes of both operands; scalars multiply."""
    x, y = _pair("inner", a, b)
    if not x.ndim or not y.ndim:
        return MULTIPLY(x, y)
    axes = (((x.ndim - 1,), (y.ndim - 1,)), (_NO_AXES, _NO_AXES))
    return _tensordot("inner", x, y, axes, precision, preferred_element_type)


def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """All products of elements of the flattened operands, as a matrix."""
    from ..operands import no_out

    no_out("outer", out)
    x, y = (as_array("outer", v, i) for i, v in enumerate((a, b)))
    return MULTIPLY(to_shape(x, (x.size, 1)), to_shape(y, (1, y.size)))


def vdot(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum of products of all elements, those of ``a`` conjugated."""
    x, y = _pair("vdot", a, b)
    x = lax.conj(x) if x.dtype.kind == "c" else x
    flat = [to_shape(v, (v.size,)) for v in (x, y)]
    axes = (((0,), (0,)), (_NO_AXES, _NO_AXES))
    return _tensordot("vdot", *flat, axes, precision, preferred_element_type)


def vecdot(
    x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over one axis, those of ``x1`` conjugated; other axes broadcast."""
    from ..manipulation.shapes import moveaxis

    x, y = _pair("vecdot", x1, x2)
    if not x.ndim or not y.ndim or x.shape[axis] != y.shape[axis]:
        raise ValueError(
            f"vecdot got operands of shapes {x.shape} and {y.shape}: axis {axis} must exist in "
            "both and have one size"
        )
    x = lax.conj(x) if x.dtype.kind == "c" else x
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    row, column = to_shape(x, (*x.shape[:-1], 1, x.shape[-1])), to_shape(y, (*y.shape, 1))
    out = matmul(row, column, precision=precision, preferred_element_type=preferred_element_type)
    return lax.squeeze(out, (out.ndim - 2, out.ndim - 1))


def _check_ranks(name: str, x: Any, y: Any, first: int, second: int) -> None:
    if x.ndim < first or y.ndim < second:
        raise ValueError(
            f"{name} got operands of shapes {x.shape} and {y.shape}: they need at least {first} "
            f"and {second} dimensions"
        )


def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Matrices by vectors: the last two axes of ``x1`` and the last of ``x2``."""
    x, y = _pair("matvec", x1, x2)
    _check_ranks("matvec", x, y, 2, 1)
    out = matmul(x, to_shape(y, (*y.shape, 1)))
    return lax.squeeze(out, (out.ndim - 1,))


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
    x, y = _pair("tensordot", a, b)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise TypeError(f"tensordot: axes must be a number or a pair, got {axes!r}")
        one, two = (tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in axes)
        if len(one) != len(two):
            raise TypeError(f"tensordot: {len(one)} axes of a and {len(two)} of b are to be paired")
        one = tuple(axis_index("tensordot", i, x.ndim) for i in one)
        two = tuple(axis_index("tensordot", i, y.ndim) for i in two)
    else:
        n = integer("tensordot", "axes", axes)
        if n > min(x.ndim, y.ndim):
            raise TypeError(f"tensordot: {n} axes are more than operands of shapes {x.shape} and "
                            f"{y.shape} have")  # fmt: skip
        one, two = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    return _tensordot("tensordot", x, y, ((one, two), (_NO_AXES, _NO_AXES)), precision,
                      preferred_element_type)  # fmt: skip


def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: every element of ``a`` times all of ``b``."""
    x, y = _pair("kron", a, b)
    n = max(x.ndim, y.ndim)
    one = (1,) * (n - x.ndim) + x.shape
    two = (1,) * (n - y.ndim) + y.shape
    left = to_shape(x, tuple(d for p in one for d in (p, 1)))
    right = to_shape(y, tuple(d for q in two for d in (1, q)))
    return to_shape(MULTIPLY(left, right), tuple(prod(p) for p in zip(one, two)))


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
            "the components last"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    out = _cross(x, y)
    return out if flat else moveaxis(out, -1, axisc)


@fused()
def _cross(x: Any, y: Any) -> Any:
    from ..ufuncs.arithmetic import SUBTRACT

    def component(v: Any, i: int) -> Any:
        if i >= v.shape[-1]:
            return lax.full_like(component(v, 0), 0)
        return lax.index_in_dim(v, i, v.ndim - 1, keepdims=False)

    def term(i: int, j: int) -> Any:
        left = MULTIPLY(component(x, i), component(y, j))
        return SUBTRACT(left, MULTIPLY(component(x, j), component(y, i)))

    if x.shape[-1] == y.shape[-1] == 2:
        return term(0, 1)
    parts = [term(1, 2), term(2, 0), term(0, 1)]
    return lax.stack(parts, axis=parts[0].ndim)
