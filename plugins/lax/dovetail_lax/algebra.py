"""The operations on arrays that transformations need, by the primitives of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_core import float0, high_algebra, typeof

from .monoids import check_sum
from .primitives.arithmetic import add_p, max_p, min_p, mul_p, neg_p
from .primitives.collectives import sum_over, vary_over, with_roles
from .primitives.discrete import lt_p
from .primitives.moves import along, moved, reshaped, spread
from .primitives.reductions import reduce_or_p, reduce_sum_p
from .primitives.taken import is_case, taken
from .primitives.values import convert_element_type_p, select_n_p
from .scalars import cast_scalar, scalar


class ArrayAlgebra:
    """Provides :class:`dovetail_core.Algebra` for arrays."""

    def full(self, aval: Any, value: Any) -> Any:
        """An array of type ``aval`` filled with the scalar ``value``."""
        if aval.dtype == float0:
            return np.zeros(aval.shape, float0)
        if aval.is_high:
            return high_algebra().make(aval, [self.full(a, value) for a in aval.lo_ty()])
        x = cast_scalar(value, aval.dtype)
        full = spread(x, aval.shape) if aval.shape else x
        if aval.weak_type:
            full = convert_element_type_p.bind(full, new_dtype=aval.dtype, weak_type=True)
        return with_roles(full, aval.vma) if aval.vma else full

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two values of one type."""
        return add_p.bind(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """The elementwise product of two values of one type."""
        return mul_p.bind(x, y)

    def neg(self, x: Any) -> Any:
        """The negative."""
        return neg_p.bind(x)

    def min(self, x: Any, y: Any) -> Any:
        """The lesser of two values of one type, element by element; NaN where one is."""
        return min_p.bind(x, y)

    def max(self, x: Any, y: Any) -> Any:
        """The greater of two values of one type, element by element; NaN where one is."""
        return max_p.bind(x, y)

    def less(self, x: Any, y: Any) -> Any:
        """True where ``x < y``, element by element."""
        return lt_p.bind(x, y)

    def sum(self, x: Any, axes: Sequence[int]) -> Any:
        """The sum over ``axes``, which disappear."""
        check_sum(x)
        return reduce_sum_p.bind(x, axes=tuple(axes))

    def sum_parts(self, x: Any, axes: frozenset[Any]) -> Any:
        """The sum over axes of a mesh along which ``x`` varies."""
        return sum_over(x, sorted(axes, key=str))

    def with_roles(self, x: Any, vma: frozenset[Any]) -> Any:
        """The value ``x`` converted so that its type has the axes ``vma``."""
        return with_roles(x, vma)

    def vary(self, x: Any, axes: Sequence[Any]) -> Any:
        """``x`` as a value that may vary along axes of a mesh."""
        return vary_over(x, axes)

    def broadcast(self, x: Any, size: int, axis: int) -> Any:
        """``x`` with a new axis of length ``size`` at ``axis``."""
        shape: tuple[int, ...] = typeof(x).shape  # type: ignore[attr-defined]
        new = (*shape[:axis], size, *shape[axis:])
        if x.__class__ is np.ndarray and x.dtype == float0:
            return np.zeros(new, float0)
        return spread(x, new, [i for i in range(len(new)) if i != axis])

    def move_axis(self, x: Any, source: int, destination: int) -> Any:
        """``x`` with one axis moved."""
        return moved(x, source, destination)

    def select(self, which: Any, on_false: Any, on_true: Any) -> Any:
        """Elementwise choice by a boolean of the cases' shape or of its head."""
        return self.pick(which, [on_false, on_true])

    def pick(self, index: Any, cases: Sequence[Any]) -> Any:
        """Elementwise ``cases[index]``; ``index`` has the cases' shape or its head."""
        shape: tuple[int, ...] = typeof(cases[0]).shape  # type: ignore[attr-defined]
        have: tuple[int, ...] = typeof(index).shape  # type: ignore[attr-defined]
        if have != shape:
            index = spread(index, shape, range(len(have)))
        return select_n_p.bind(index, *cases)

    def within(self, index: Any, case: int, inner: Any) -> Any:
        """``inner`` as an int32 where ``index`` is ``case``, else -1."""
        inner = convert_element_type_p.bind(inner, new_dtype=np.dtype(np.int32), weak_type=False)
        return select_n_p.bind(is_case(index, case), scalar(-1, inner.dtype), inner)

    def taken(self, index: Any, values: Sequence[Any], case: int, zeroed: bool) -> list[Any]:
        """``values``, of which no cotangent comes out where ``index`` is not ``case``."""
        return taken(index, values, case, zeroed)

    def cut(self, x: Any, axis: int, start: int, shape: Sequence[int]) -> Any:
        """The part of ``axis`` (0 or -1) that begins at ``start``, reshaped to ``shape`` there."""
        full: tuple[int, ...] = typeof(x).shape  # type: ignore[attr-defined]
        at = axis % len(full)
        size = int(np.prod(shape, dtype=int))
        part = along(x, at, start, start + size)
        return reshaped(part, (*full[:at], *shape, *full[at + 1 :]))

    def any(self, x: Any) -> Any:
        """A scalar boolean: true if any element of a boolean array is."""
        return reduce_or_p.bind(x, axes=tuple(range(len(x.shape))))

    def convert(self, x: Any, aval: Any) -> Any:
        """``x`` with the element type (and weak type) of ``aval``."""
        if typeof(x) is aval:
            return x
        return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)

    def array(self, x: Any, aval: Any) -> Any:
        """A Python or NumPy scalar as an array of type ``aval``."""
        return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


ALGEBRA = ArrayAlgebra()
