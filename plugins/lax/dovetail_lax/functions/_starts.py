"""Start indices of dynamic slices: from what users give to scalars of one integer dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_core import typeof

from ..primitives._elementwise import place
from ..primitives.arithmetic import add_p
from ..primitives.discrete import lt_p
from ..primitives.shape import slice_p, squeeze_p
from ..primitives.values import convert_element_type_p, select_n_p
from ..scalars import adapt, has_own_type
from ._shapes import Shape, shape_of

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
            f"allow_negative_indices for an operand of shape {shape}{place()}. Give one for each "
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
                    f"forbids{place()}. Leave that out to count from the end of the axis."
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
            f"got an array of shape {shape}{place()}."
        )
    parts = [
        slice_p.bind(starts, start_indices=(i,), limit_indices=(i + 1,), strides=None)
        for i in range(shape[0])
    ]
    return [squeeze_p.bind(p, dimensions=(0,)) for p in parts]


def _one_dtype(starts: list[Any]) -> list[Any]:
    """Known starts take the dtype of the others; dtypes of under 32 bits are widened if need be.

    What does not agree even then is left for the type rule, which says what is wrong.
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
