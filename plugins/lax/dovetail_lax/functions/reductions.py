"""Public functions that reduce axes away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    Tracer,
    callable_name,
    here,
    stage_closed,
    trace_cache,
    type_shardings,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..dtypes import as_dtype
from ..monoids import IDENTITIES, check_sum
from ..primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from ..scalars import PYTHON_SCALARS
from .operands import Array, ArrayLike, check, ints, unary_with


def reduce_sum(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The sum over ``axes`` (each at least 0), which disappear; the type stays.

    Raises:
        TypeError: ``operand`` is boolean.
        ValueError: an axis is out of bounds or repeated; or it has elements of 16 bits, and the
            option ``allow_f16_reductions`` is off.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, reduce_sum, operand, axes)
    check_sum(operand)
    return unary_with(reduce_sum_p, operand, {"axes": ints("reduce_sum", "axes", axes)})


def reduce_prod(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """The product over ``axes``, which disappear (see :func:`reduce_sum`)."""
    return unary_with(reduce_prod_p, operand, {"axes": ints("reduce_prod", "axes", axes)})


def reduce_max(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """The maximum over ``axes``, which disappear; NaN if there is one among the elements.

    Over an empty axis it is minus infinity or the type's least value. Complex numbers are compared
    by real and then by imaginary part.
    """
    return unary_with(reduce_max_p, operand, {"axes": ints("reduce_max", "axes", axes)})


def reduce_min(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """The minimum over ``axes``, which disappear (see :func:`reduce_max`)."""
    return unary_with(reduce_min_p, operand, {"axes": ints("reduce_min", "axes", axes)})


def reduce_and(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Logical (of booleans) or bitwise (of integers) "and" over ``axes``, which disappear."""
    return unary_with(reduce_and_p, operand, {"axes": ints("reduce_and", "axes", axes)})


def reduce_or(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Logical (of booleans) or bitwise (of integers) "or" over ``axes``, which disappear."""
    return unary_with(reduce_or_p, operand, {"axes": ints("reduce_or", "axes", axes)})


def reduce_xor(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Exclusive "or" over ``axes``, which disappear, of booleans or of integers' bits."""
    return unary_with(reduce_xor_p, operand, {"axes": ints("reduce_xor", "axes", axes)})


def argmax(operand: ArrayLike, axis: int, index_dtype: Any) -> Array:
    """The index of the first maximum along ``axis``, or of the first NaN.

    Raises:
        TypeError: ``index_dtype`` is no integer type, or ``operand`` is complex.
        ValueError: the axis is empty or out of bounds.
    """
    params = {"axes": (arguments.integer("axis", axis),), "index_dtype": as_dtype(index_dtype)}
    return unary_with(argmax_p, operand, params)


def argmin(operand: ArrayLike, axis: int, index_dtype: Any) -> Array:
    """The index of the first minimum along ``axis`` (see :func:`argmax`)."""
    params = {"axes": (arguments.integer("axis", axis),), "index_dtype": as_dtype(index_dtype)}
    return unary_with(argmin_p, operand, params)


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Reduce ``dimensions`` of arrays by a function of two scalars (or two trees of scalars).

    Args:
        operands: an array or a tree of arrays of one shape.
        init_values: scalars that ``computation`` leaves as they are, in the same tree.
        computation: associative; ``lax.add``, ``mul``, ``max``, ``min``, ``bitwise_and``, ``_or``
            and ``_xor`` with their identities become the reductions of those names. It may return
            other containers than those of ``operands``, with as many scalars: the result's.

    Raises:
        TypeError: initial values do not fit the operands, or the computation returns other types.
        ValueError: shapes differ, or a dimension is out of bounds or repeated.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, reduce, operands, init_values, computation, dimensions
        )
    arrays, tree = tree_flatten(operands)
    inits = initial_values("reduce", arrays, tree, init_values)
    dims = ints("reduce", "dimensions", dimensions)
    known = _known(computation, arrays, inits)
    if known is not None:
        return tree_unflatten(tree, [known.bind(arrays[0], axes=dims)])
    program, out_tree = staged("reduce", computation, arrays, tree)
    result = reduce_p.bind(*arrays, *inits, jaxpr=program, dimensions=dims)
    return tree_unflatten(out_tree, result)


def initial_values(name: str, arrays: list[Any], tree: Any, init_values: Any) -> list[Any]:
    """Initial values as flat scalars; Python's take the operands' types.

    Raises:
        ValueError: there is no operand, or the trees differ.
    """
    inits, init_tree = tree_flatten(init_values)
    if not arrays or tree != init_tree:
        raise ValueError(
            f"lax.{name} takes operands and initial values of one structure, got {tree} and "
            f"{init_tree}{here()}."
        )
    types = [check(name, x) for x in arrays]
    return [
        _initial(name, i, t) if i.__class__ in PYTHON_SCALARS else i for i, t in zip(inits, types)
    ]


def _initial(name: str, value: Any, operand: ShapedArray) -> Any:
    if isinstance(value, complex) and operand.dtype.kind != "c":
        raise TypeError(
            f"lax.{name} got the complex initial value {value} for an operand of type "
            f"{operand.str_short()}{here()}: give a real one, or convert the operand."
        )
    with np.errstate(invalid="ignore", over="ignore"):  # -inf is the least integer
        return np.asarray(value).astype(operand.dtype)[()]


def staged(
    name: str, computation: Callable[[Any, Any], Any], arrays: list[Any], tree: Any
) -> tuple[ClosedJaxpr, Any]:
    """The program of a computation on two trees of scalars of the arrays' types, and its result's
    tree."""
    n = len(arrays)
    trees: list[Any] = []

    def flat(*scalars: Any) -> list[Any]:
        a, b = tree_unflatten(tree, scalars[:n]), tree_unflatten(tree, scalars[n:])
        result, result_tree = tree_flatten(computation(a, b))
        if len(result) != n:
            raise TypeError(
                f"the computation of lax.{name}{here()} must return as many scalars as one of its "
                f"arguments has, {tree}; it returns {result_tree}."
            )
        trees.append(result_tree)
        return result

    avals: Any = [ShapedArray((), typeof(x).dtype) for x in arrays]  # type: ignore[attr-defined]
    key = "reduction", tree, tuple(avals)
    cache = trace_cache()
    known: tuple[ClosedJaxpr, Any] | None = cache.get(computation, key)
    if known is None:
        program = stage_closed(flat, avals * 2, callable_name(computation))
        known = program, trees[-1]
        cache.put(computation, key, program.consts, program, known)
    return known


_KINDS: dict[Any, str] = {}
_PRIMITIVES = {
    "sum": reduce_sum_p,
    "prod": reduce_prod_p,
    "max": reduce_max_p,
    "min": reduce_min_p,
    "and": reduce_and_p,
    "or": reduce_or_p,
    "xor": reduce_xor_p,
}


def kind_of_monoid(computation: Any, init: Any, dtype: Any) -> str | None:
    """The kind of the named reduction that ``computation`` with ``init`` is, or None."""
    if not _KINDS:
        from . import arithmetic, discrete

        _KINDS.update(
            {
                arithmetic.add: "sum",
                arithmetic.mul: "prod",
                arithmetic.max: "max",
                arithmetic.min: "min",
                discrete.bitwise_and: "and",
                discrete.bitwise_or: "or",
                discrete.bitwise_xor: "xor",
            }
        )
    try:
        kind = _KINDS.get(computation)
    except TypeError:  # an unhashable callable
        return None
    if kind is None or isinstance(init, Tracer):
        return None
    if kind in ("sum", "prod") and dtype.kind == "b":
        return None
    value = np.asarray(init)
    if value.shape != () or value.dtype != dtype:
        return None
    return kind if value == IDENTITIES[kind](dtype) else None


def _known(computation: Any, arrays: list[Any], inits: list[Any]) -> Primitive | None:
    if len(arrays) != 1:
        return None
    dtype = typeof(arrays[0]).dtype  # type: ignore[attr-defined]
    kind = kind_of_monoid(computation, inits[0], dtype)
    return None if kind is None else _PRIMITIVES[kind]
