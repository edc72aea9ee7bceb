"""Small operations that composite functions share: numbers for an operand, selection, truth."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import typeof

from .promotion import convert


def dtype_of(x: Any) -> Any:
    """The element type of a value."""
    aval: Any = typeof(x)
    return aval.dtype


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a value; () for Python numbers."""
    return getattr(x, "shape", ())


def number(x: Any, value: complex) -> Any:
    """A Python number as an operand that has the element type of ``x``."""
    aval: Any = typeof(x)
    return convert(value, aval.dtype, aval.weak_type)


def filled(like: Any, shape: tuple[int, ...], value: complex) -> Any:
    """An array of one Python number, with the element type of ``like`` and not weakly typed."""
    return lax.full(shape, value, dtype_of(like))


def select(pred: Any, yes: Any, no: Any) -> Any:
    """``yes`` where ``pred``, else ``no``, of one element type; shapes are equal or scalar."""
    return lax.select_n_p.bind(pred, no, yes)


def strong(x: Any) -> Any:
    """``x`` without weak typing."""
    if not x.aval.weak_type:
        return x
    return lax.convert_element_type_p.bind(x, new_dtype=x.aval.dtype, weak_type=False)


def truth(x: Any) -> Any:
    """True where elements are not zero; booleans as they are."""
    if dtype_of(x).kind != "b":
        return lax.ne_p.bind(x, number(x, 0))
    return strong(x) if hasattr(x, "aval") else x  # NumPy's are strong


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """``x`` in another shape of the same size; itself where it has that shape."""
    return x if x.shape == shape else lax.reshape_p.bind(x, new_sizes=shape)


def transpose(x: Any, axes: tuple[int, ...]) -> Any:
    """``x`` with its axes permuted; itself where they stay in order."""
    if axes == tuple(range(len(axes))):
        return x
    return lax.transpose_p.bind(x, permutation=axes)
