"""Operands of public functions: from what users pass to what primitives bind, quickly.

The usual call (tracers and arrays whose types match, or one of them beside a Python scalar) goes
straight to the current trace; type rules find mismatches and raise. What they refuse for its shape
alone is tried again after axes of length 1 have been broadcast, as ``jax.lax`` does.
"""

from __future__ import annotations

from typing import Any, cast

from dovetail_core import Primitive, ShapedArray, Tracer, get_trace, typeof
from dovetail_xla.config import enable_x64_state

from ..primitives._elementwise import ShapeMismatch
from ..scalars import FLOATS, PYTHON_SCALARS, adapt, check_int

Array = Any
"""A runtime array, or a tracer that stands for one."""
ArrayLike = Any
"""What becomes an array: arrays, tracers, NumPy arrays and scalars, Python scalars."""

_ARRAYS: set[type] = set()
"""Classes of tracers and runtime arrays seen so far: values with an ``aval``, good as they are."""


def unary(primitive: Primitive, x: Any) -> Any:
    """Bind a primitive of one operand."""
    if x.__class__ not in _ARRAYS:
        check(primitive.name, x)
    return get_trace().process(primitive, (x,), {})


def unary_with(primitive: Primitive, x: Any, params: dict[str, Any]) -> Any:
    """Bind a primitive of one operand with parameters."""
    if x.__class__ not in _ARRAYS:
        check(primitive.name, x)
    return get_trace().process(primitive, (x,), params)


def binary(primitive: Primitive, x: Any, y: Any, params: dict[str, Any] | None = None) -> Any:
    """Bind a primitive of two operands; a Python scalar takes the other's type if it may."""
    if x.__class__ in _ARRAYS:
        if y.__class__ not in _ARRAYS and not (
            y.__class__ is float and x.aval.dtype is FLOATS[enable_x64_state.value]
        ):
            y = beside(primitive.name, y, x.aval)
    elif y.__class__ in _ARRAYS:
        x = beside(primitive.name, x, y.aval)
    else:
        x, y = operands(primitive.name, (x, y))
    try:
        return get_trace().process(primitive, (x, y), {} if params is None else params)
    except ShapeMismatch as e:
        return get_trace().process(primitive, stretch((x, y), e), params or {})


def nary(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any] | None = None) -> Any:
    """Bind a primitive of any number of operands; Python scalars take the others' type."""
    args = operands(primitive.name, args)
    try:
        return get_trace().process(primitive, args, params or {})
    except ShapeMismatch as e:
        return get_trace().process(primitive, stretch(args, e), params or {})


def operands(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Checked operands, of which Python scalars have taken the first array's type if they may."""
    first: ShapedArray | None = None
    for x in args:
        aval = check(name, x)
        if first is None and x.__class__ not in PYTHON_SCALARS:
            first = aval
    if first is None:
        return args
    return tuple([adapt(x, first.dtype) if x.__class__ in PYTHON_SCALARS else x for x in args])


def beside(name: str, x: Any, other: ShapedArray) -> Any:
    """An operand beside one of type ``other``: a Python scalar takes its element type if it may."""
    if x.__class__ in PYTHON_SCALARS:
        return adapt(x, other.dtype)
    check(name, x)
    return x


def check(name: str, x: Any) -> ShapedArray:
    """The type of an operand of the function ``name``.

    Raises:
        TypeError: it is not an array value; names the function, the value and the remedy.
        OverflowError: it is a Python integer that does not fit into its type.
    """
    try:
        aval = cast(ShapedArray, typeof(x))
    except TypeError as e:
        raise type(e)(f"lax.{name} takes arrays: {e}") from None
    cls = x.__class__
    if cls is int:
        check_int(x)
    elif cls not in PYTHON_SCALARS and (isinstance(x, Tracer) or hasattr(cls, "aval")):
        _ARRAYS.add(cls)
    return aval


def stretch(args: tuple[Any, ...], error: ShapeMismatch) -> tuple[Any, ...]:
    """Operands of equal rank with axes of length 1 stretched to the others' lengths.

    Raises:
        ShapeMismatch: ``error``, where that makes no common shape.
    """
    from ..primitives.shape import broadcast_in_dim_p

    shapes = [cast(ShapedArray, typeof(x)).shape for x in args]
    full = [s for s in shapes if s]
    if len({len(s) for s in full}) != 1:
        raise error
    common = tuple([max(sizes, key=lambda n: (n != 1, n)) for sizes in zip(*full)])
    if any(n not in (1, m) for s in full for n, m in zip(s, common)):
        raise error
    axes = tuple(range(len(common)))
    return tuple(
        [
            x if s in ((), common) else _broadcast(broadcast_in_dim_p, x, common, axes)
            for x, s in zip(args, shapes)
        ]
    )


def _broadcast(primitive: Primitive, x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    return primitive.bind(x, shape=shape, broadcast_dimensions=axes)
