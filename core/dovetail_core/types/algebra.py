"""The few array operations that transformations need, supplied by the provider ``algebra``.

Transformations name no primitive. For a zero, a sum or a broadcast they call the functions here;
the plugin that defines arrays names the provider in its manifest. High types have their own zero
and addition (see ``HiType``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dovetail_mesh.manual_axis_types import cotangent_vma, has_roles

from ..registry.discovery import registry, when_swapped
from .avals import AbstractValue, ShapedArray
from .type_shardings import like_type
from .typeof import typeof


class Algebra(Protocol):
    """Operations on array values (concrete or traced), each bound under the current trace."""

    def full(self, aval: AbstractValue, value: Any) -> Any:
        """An array of type ``aval`` filled with the scalar ``value``."""
        ...

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two values of one type."""
        ...

    def mul(self, x: Any, y: Any) -> Any:
        """The elementwise product of two values of one type."""
        ...

    def neg(self, x: Any) -> Any:
        """The negative."""
        ...

    def min(self, x: Any, y: Any) -> Any:
        """The lesser of two values of one type, element by element; NaN where one is."""
        ...

    def max(self, x: Any, y: Any) -> Any:
        """The greater (see :meth:`min`)."""
        ...

    def less(self, x: Any, y: Any) -> Any:
        """The booleans ``x < y``, element by element."""
        ...

    def sum(self, x: Any, axes: Sequence[int]) -> Any:
        """The sum over ``axes``, which are removed."""
        ...

    def sum_parts(self, x: Any, axes: frozenset[Any]) -> Any:
        """The sum of the parts of ``x`` over axes of a mesh along which it varies."""
        ...

    def with_roles(self, x: Any, vma: frozenset[Any]) -> Any:
        """The value ``x`` as one whose type has ``vma`` (see ``manual_axis_types``): summed over
        axes over which ``x`` varies, or is a sum, and the new one does not."""
        ...

    def vary(self, x: Any, axes: Sequence[Any]) -> Any:
        """``x`` as a value that may vary along axes of a mesh."""
        ...

    def broadcast(self, x: Any, size: int, axis: int) -> Any:
        """``x`` with a new axis of length ``size`` at ``axis``."""
        ...

    def move_axis(self, x: Any, source: int, destination: int) -> Any:
        """``x`` with one axis moved."""
        ...

    def select(self, which: Any, on_false: Any, on_true: Any) -> Any:
        """Elementwise choice by booleans of the shape of the cases, or of its leading axes."""
        ...

    def pick(self, index: Any, cases: Sequence[Any]) -> Any:
        """Elementwise ``cases[index]``; integers of the shape of the cases or its leading axes."""
        ...

    def within(self, index: Any, case: int, inner: Any) -> Any:
        """The elements of ``inner``, booleans or integers, as integers where ``index`` is ``case``;
        -1 for the others."""
        ...

    def taken(self, index: Any, values: Sequence[Any], case: int, zeroed: bool) -> list[Any]:
        """``values`` for a branch that is taken by the elements for which ``index``, booleans or
        integers, is ``case``: their tangents and cotangents are zero for elements that do not take
        it. With ``zeroed``, operands of a multilinear operation are zero for these elements, too,
        once they are differentiated."""
        ...

    def cut(self, x: Any, axis: int, start: int, shape: Sequence[int]) -> Any:
        """The part of ``axis`` (0 or -1) that begins at ``start``, reshaped to ``shape`` there."""
        ...

    def any(self, x: Any) -> Any:
        """A scalar boolean: true if any element of a boolean array is."""
        ...

    def convert(self, x: Any, aval: AbstractValue) -> Any:
        """``x`` with the element type (and weak type) of ``aval``."""
        ...

    def array(self, x: Any, aval: AbstractValue) -> Any:
        """A Python or NumPy scalar as an array of type ``aval``, with an array's methods."""
        ...


_provider: list[Algebra] = []


def algebra() -> Algebra:
    """The provider that the array plugin declares in its manifest.

    Raises:
        PluginError: no installed plugin provides one.
    """
    if not _provider:
        _provider.append(registry().provider("algebra"))
    return _provider[0]


when_swapped(_provider.clear)


def zeros_like_aval(aval: AbstractValue) -> Any:
    """The zero of type ``aval``."""
    make = getattr(aval, "make_zero", None)
    if make is not None:
        return make()
    own = _extended(aval)
    result = None if own is None else own.dtype.zeros(own.shape)
    result = algebra().full(aval, 0) if result is None else result
    return result if aval.divided is None else like_type(result, aval, typeof(result))


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents of one type."""
    aval = typeof(x)
    own = _extended(aval)
    if own is not None:
        return own.dtype.add(x, y)
    plus = getattr(aval, "add_tangents", None)
    return plus(x, y) if plus is not None else algebra().add(x, y)


def _extended(aval: AbstractValue) -> Any:
    """The type, if it is that of an array of an extended dtype; None for other types."""
    return aval if aval.is_high and isinstance(aval, ShapedArray) else None


def match_cotangent(cotangent: Any, aval: AbstractValue) -> Any:
    """A cotangent as one of a value of type ``aval``: summed over axes of a mesh along which the
    value is equal on all devices and the cotangent is not, and divided as the type shows."""
    now = typeof(cotangent)
    if now.vma or aval.vma:
        wanted = cotangent_vma(aval.vma)
        if has_roles(now.vma) or has_roles(wanted):
            cotangent = algebra().with_roles(cotangent, wanted)
        elif more := now.vma - wanted:
            cotangent = algebra().sum_parts(cotangent, more)
    if now.divided is None and aval.divided is None:
        return cotangent
    return like_type(cotangent, aval.cotangent_type(), now)
