"""Computing narrow floating-point types in single precision, and rounding once at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_core import typeof

from ..functions.creation import full
from ..primitives.reductions import reduce_or_p
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.values import convert_element_type_p

_FLOAT32 = np.dtype(np.float32)


def in_single(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of equally shaped float32 or float64, for any floating-point type and for scalars."""

    def run(*args: Any) -> Any:
        avals: list[Any] = [typeof(x) for x in args]
        shape = next((a.shape for a in avals if a.shape), ())
        dtype = avals[0].dtype
        work = dtype if dtype.itemsize >= 4 else _FLOAT32
        out = f(*[_prepared(x, a, shape, work) for x, a in zip(args, avals)])
        weak = all(a.weak_type for a in avals)
        return out if work == dtype and not weak else _converted(out, dtype, weak)

    return run


def _prepared(x: Any, aval: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if aval.dtype != dtype or aval.weak_type:
        x = _converted(x, dtype, False)
    if aval.shape != shape:
        x = broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=())
    return x


def _converted(x: Any, dtype: Any, weak: bool) -> Any:
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


def filled(like: Any, value: float) -> Any:
    """An array like ``like`` of one value."""
    return full(like.shape, value, like.dtype)


def epsilon(dtype: Any) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(dtype).eps)


def any_true(x: Any) -> Any:
    """Whether any element is true."""
    return reduce_or_p.bind(x, axes=tuple(range(len(x.shape))))
