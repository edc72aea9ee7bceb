"""Types of tangents, symbolic zeros, and conversions between users' tangents and internal ones.

Inside the transformations a zero tangent or cotangent is None. Authors of custom rules see
:class:`SymbolicZero`, users see arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import (
    AbstractValue,
    HiType,
    ShapedArray,
    Tracer,
    algebra,
    axis_names,
    float0,
    get_trace,
    here as here,
    is_inexact,
    manual_axis_types,
    type_shardings,
    typeof,
    zeros_like_aval,
)


class SymbolicZero:
    """A tangent or cotangent that is zero, without an array: it has only a type, ``aval``."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the zero."""
        return self.aval.shape  # type: ignore[attr-defined]

    @property
    def dtype(self) -> Any:
        """The element type of the zero."""
        return self.aval.dtype  # type: ignore[attr-defined]

    def instantiate(self) -> Any:
        """The zero as a value."""
        return zeros_like_aval(self.aval)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.str_short()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicZero) and self.aval == other.aval

    def __hash__(self) -> int:
        return hash((SymbolicZero, self.aval))

    @staticmethod
    def from_primal_value(val: Any) -> SymbolicZero:
        """The zero tangent of ``val``."""
        return SymbolicZero(typeof(val).tangent_type())


def instantiate_zeros(tangent: Any) -> Any:
    """The value of a symbolic zero; other values unchanged."""
    return tangent.instantiate() if tangent.__class__ is SymbolicZero else tangent


def transposed_type(aval: AbstractValue) -> AbstractValue:
    """The type of the cotangents of a linear unknown.

    Integers have no derivatives, but a linear function of integers can be transposed: its
    cotangents are integers.
    """
    result = aval.cotangent_type()
    return aval.strong() if getattr(result, "dtype", None) == float0 else result


def is_float0(x: Any) -> bool:
    """True if ``x`` is an array of dtype float0, a user's tangent of an integer."""
    return isinstance(x, np.ndarray) and x.dtype == float0


def float0_type(aval: Any, given: Any) -> Any:
    """The type of ``given``, a float0 array that a user passed for a tangent of type ``aval``."""
    return aval if isinstance(aval, HiType) else aval.update(shape=given.shape, dtype=float0)


def same_type(a: Any, b: Any) -> bool:
    """True if two types of tangents are equal apart from weak typing and sharding."""
    return a is b or _unsharded(a) == _unsharded(b)


def _unsharded(aval: Any) -> Any:
    return aval.strong().with_vma(manual_axis_types.NO_AXES).without_sharding()


def has_tangent(aval: Any) -> bool:
    """True if functions can be differentiated with respect to values of type ``aval``."""
    if aval.is_mutable:
        return False
    tangent = aval.tangent_type() if aval.is_high else aval
    return tangent.is_high or is_inexact(getattr(tangent, "dtype", None))


def live_tangent(x: Any, want: Any) -> Any:
    """The internal form of a user's tangent or cotangent.

    It is None for dtype float0. A weakly typed value becomes strongly typed like ``want``: internal
    tangents have the tangent type of their primals, which is never weak.
    """
    if is_float0(x):
        return None
    x = algebra().convert(x, want) if getattr(typeof(x), "weak_type", False) else x
    return x if want.divided is None else type_shardings.like_type(x, want, typeof(x))


def user_tangent(tangent: Any, primal_aval: Any, cotangent: bool = False) -> Any:
    """The form that users see of an internal tangent: zeros for None, float0 for integers, an array
    for a scalar constant."""
    if tangent is None:
        if primal_aval.is_mutable:
            return None
        want = primal_aval.cotangent_type() if cotangent else primal_aval.tangent_type()
        if not want.is_high and want.dtype == float0:
            return np.zeros(want.shape, float0)
        tangent = zeros_like_aval(want)
    if isinstance(tangent, _SCALARS) and get_trace().computes:
        return algebra().array(tangent, typeof(tangent))
    return tangent


_SCALARS = (np.generic, float, complex)


def like_primal(tangent: Any, primal_aval: Any, cotangent: bool = False) -> Any:
    """:func:`user_tangent`, weakly typed where the primal is (gradients of Python scalars)."""
    shown = user_tangent(tangent, primal_aval, cotangent)
    if not getattr(primal_aval, "weak_type", False) or shown is None or is_float0(shown):
        return shown
    return algebra().convert(shown, primal_aval)


def as_primal(x: Any) -> Any:
    """A user's argument as a primal; NumPy and Python values keep their type.

    Raises:
        TypeError: it is not an array.
    """
    if not isinstance(x, Tracer):
        typeof(x)
    return varying_on_unchecked_axes(x) if axis_names.manual_axes() else x


def varying_on_unchecked_axes(x: Any) -> Any:
    """``x`` typed as varying along the manual axes on which varying types are not checked.

    Otherwise its cotangent would be summed over these axes, as that of a value that all devices
    share. On unchecked axes each device has its own result of a sum, and its own cotangent.
    """
    aval: Any = typeof(x)
    if not isinstance(aval, ShapedArray) or aval.is_high or not has_tangent(aval):
        return x
    more = [
        a for a, checked in axis_names.manual_axes().items() if not checked and a not in aval.vma
    ]
    return algebra().vary(x, more) if more else x
