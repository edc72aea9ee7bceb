"""Arguments of public functions: from what users pass to what primitives bind.

The usual call (tracers and arrays whose types match, or one of them beside a Python scalar) goes
straight to the current trace; type rules detect mismatches and raise. Operands that they refuse for
their shapes alone are bound again after axes of length 1 have been broadcast, as ``jax.lax`` does.
Shapes, axes and start indices become tuples of Python ints, or a clear error.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, cast

import numpy as np

from dovetail_core import Primitive, ShapedArray, TracedValueError, Tracer, get_trace, here, typeof
from dovetail_xla.config import enable_x64_state

from ..errors import OutOfBounds
from ..primitives.arithmetic import add_p
from ..primitives.discrete import lt_p
from ..primitives.elementwise import ShapeMismatch
from ..primitives.shape import slice_p, squeeze_p
from ..primitives.values import convert_element_type_p, select_n_p
from ..scalars import FLOATS, PYTHON_SCALARS, adapt, check_int, has_own_type

Array = Any
"""A runtime array, or a tracer of one."""
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


Shape = tuple[int, ...]


def shape_of(x: Any) -> Shape:
    """The shape of a value: an array, a tracer, a NumPy value or a Python scalar."""
    try:
        return x.shape
    except AttributeError:
        return typeof(x).shape  # type: ignore[attr-defined]


def on_host(x: Any) -> bool:
    """True if ``x`` is not yet an array of the runtime (functions never return such a value)."""
    return isinstance(x, (np.ndarray, np.generic, int, float, complex))


def ints(name: str, argument: str, values: Any) -> Shape:
    """``values`` as a tuple of Python ints; a single integer is a tuple of one.

    Raises:
        TypeError: names the function ``name`` and its ``argument``.
    """
    try:
        return tuple(map(index, values))
    except TracedValueError:
        raise
    except TypeError:
        if hasattr(values, "__index__") and not np.ndim(values):
            return (index(values),)
        raise TypeError(
            f"lax.{name}: {argument} must be a sequence of integers, got {values!r}{here()}."
        ) from None


def axis_in(name: str, argument: str, axis: Any, ndim: int) -> int:
    """``axis`` counted from the front.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is out of bounds.
    """
    if axis.__class__ is not int:
        try:
            axis = index(axis)
        except TracedValueError:
            raise
        except TypeError:
            raise TypeError(
                f"lax.{name}: {argument} must be an integer, got {axis!r}{here()}."
            ) from None
    if -ndim <= axis < ndim:
        return axis + ndim if axis < 0 else axis
    raise OutOfBounds(
        f"lax.{name}: {argument} {axis} is out of bounds for an array with {ndim} axes{here()}. "
        f"It must be at least {-ndim} and less than {ndim}."
    )


def axes_in(name: str, argument: str, axes: Any, ndim: int) -> Shape:
    """Several axes counted from the front (see :func:`axis_in`)."""
    result = ints(name, argument, axes)
    if result and (min(result) < 0 or max(result) >= ndim):
        return tuple([axis_in(name, argument, a, ndim) for a in result])
    return result


_INT32 = np.dtype(np.int32)


def checked_starts(
    name: str, shape: Shape, starts: Any, allow_negative: bool | Sequence[bool]
) -> list[Any]:
    """One scalar for each axis; negative ones count from the end where that is allowed.

    Raises:
        ValueError: there is not one start (and one flag) for each axis.
        TypeError: ``starts`` is neither a sequence nor an array of one axis.
    """
    given = starts if starts.__class__ in (tuple, list) else _elements(name, starts)
    if allow_negative.__class__ is bool:
        wrap: Sequence[bool] = (allow_negative,) * len(shape)  # type: ignore[assignment]
    else:
        wrap = tuple(allow_negative)  # type: ignore[arg-type]
    if not len(given) == len(wrap) == len(shape):
        raise ValueError(
            f"lax.{name} got {len(given)} start indices and {len(wrap)} flags "
            f"allow_negative_indices for an operand of shape {shape}{here()}. Give one for each "
            f"of its {len(shape)} axes."
        )
    return _one_dtype([wrapped(i, n, w) for i, n, w in zip(given, shape, wrap)])


def one_start(shape: Shape, axis: int, start: Any, allow_negative: bool) -> list[Any]:
    """Starts that are 0 except on one axis."""
    starts: list[Any] = [0] * len(shape)
    starts[axis] = wrapped(start, shape[axis], allow_negative)
    return _one_dtype(starts)


def wrapped(index: Any, size: int, allow_negative: bool) -> Any:
    """``index``, with ``size`` added if it is negative; a Python int if it is known."""
    if index.__class__ is int or _is_known_integer(index):
        at = int(index)
        if at < 0:
            if not allow_negative:
                raise ValueError(
                    f"start index {at} is negative, which allow_negative_indices=False "
                    f"forbids{here()}. Leave that out to count from the end of the axis."
                )
            at += size
        return max(-1, min(at, size))  # the same box, outside to checks, and fits in every dtype
    if not allow_negative:
        return index
    dtype: Any = typeof(index).dtype  # type: ignore[attr-defined]
    if dtype.kind != "i":
        return index  # unsigned, or refused by the type rule
    if dtype.itemsize < 4 and size > np.iinfo(dtype).max:
        index, dtype = _converted(index, _INT32), _INT32
    negative = lt_p.bind(index, adapt(0, dtype))
    return select_n_p.bind(negative, index, add_p.bind(index, adapt(size, dtype)))


def _is_known_integer(index: Any) -> bool:
    if isinstance(index, int):
        return not isinstance(index, bool)
    return isinstance(index, (np.integer, np.ndarray)) and (
        index.ndim == 0 and index.dtype.kind in "iu"
    )


def _elements(name: str, starts: Any) -> list[Any]:
    if isinstance(starts, (np.ndarray, Sequence)) and not isinstance(starts, str):
        return list(starts)
    shape = shape_of(starts)
    if len(shape) != 1:
        raise TypeError(
            f"lax.{name}: start_indices must be a sequence of scalars or an array with one axis, "
            f"got an array of shape {shape}{here()}."
        )
    parts = [
        slice_p.bind(starts, start_indices=(i,), limit_indices=(i + 1,), strides=None)
        for i in range(shape[0])
    ]
    return [squeeze_p.bind(p, dimensions=(0,)) for p in parts]


def _one_dtype(starts: list[Any]) -> list[Any]:
    """Known starts take the dtype of the others; dtypes of under 32 bits are widened if need be.

    Starts that do not agree even then are left to the type rule, which reports them.
    """
    dtypes: Any = {typeof(i).dtype for i in starts if i.__class__ is not int}  # type: ignore
    if len(dtypes) < 2 and all(has_own_type(int, d) for d in dtypes):
        return starts
    wide = [d for d in dtypes if d.itemsize >= 4 or d.kind not in "iu"]
    if len(wide) > 1 or any(d.kind not in "iu" for d in wide):
        return starts
    dtype = wide[0] if wide else _INT32
    if not wide and len(dtypes) == 1:
        (narrow,) = dtypes
        if all(i <= np.iinfo(narrow).max for i in starts if i.__class__ is int):
            dtype = narrow
    least = 0 if dtype.kind == "u" else -1
    return [
        adapt(max(i, least), dtype) if i.__class__ is int else _converted(i, dtype) for i in starts
    ]


def _converted(index: Any, dtype: Any) -> Any:
    if typeof(index).dtype == dtype:  # type: ignore[attr-defined]
        return index
    return convert_element_type_p.bind(index, new_dtype=dtype, weak_type=False)
