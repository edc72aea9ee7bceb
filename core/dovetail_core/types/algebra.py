"""The few array operations that transformations need of any array type, provided by a plugin.

Transformations name no primitive. Where they need a zero, a sum or a broadcast they ask for it
here; the plugin that owns arrays names its provider in its manifest (``algebra``). High types
bring their own zero and addition (see ``HiType``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..registry.discovery import registry
from .avals import AbstractValue, ShapedArray
from .dividing import divided_as
from .roles import cotangent_vma, has_roles
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
        """Whether ``x < y``, element by element: booleans."""
        ...

    def sum(self, x: Any, axes: Sequence[int]) -> Any:
        """The sum over ``axes``, which disappear."""
        ...

    def sum_parts(self, x: Any, axes: frozenset[Any]) -> Any:
        """The sum of the parts of ``x`` over axes of a mesh along which it varies."""
        ...

    def with_roles(self, x: Any, vma: frozenset[Any]) -> Any:
        """The value ``x`` as one of which types say ``vma`` (see ``roles``): summed over axes over
        which it varies, or is a sum, and the new one does not."""
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
        """Elementwise choice; ``which`` is boolean, of the shape of the others or of its head."""
        ...

    def pick(self, index: Any, cases: Sequence[Any]) -> Any:
        """Elementwise ``cases[index]``; ``index`` is integer, of the cases' shape or its head."""
        ...

    def within(self, index: Any, case: int, inner: Any) -> Any:
        """``inner``, a boolean or integer, as an integer where ``index`` is ``case``, else -1."""
        ...

    def taken(self, index: Any, values: Sequence[Any], case: int, zeroed: bool) -> list[Any]:
        """``values``, as a branch sees them that is taken if ``index``, a boolean or an integer
        that one element has, is ``case``: their tangents, and with them what cotangents come out,
        are zero for elements that do not take it. Where ``zeroed``, operands of a multilinear
        operation are zero for these elements themselves, once they are differentiated."""
        ...

    def cut(self, x: Any, axis: int, start: int, shape: Sequence[int]) -> Any:
        """The part of ``axis`` (0 or -1) that begins at ``start``, reshaped to ``shape`` there."""
        ...

    def any(self, x: Any) -> Any:
        """Whether any element of a boolean array is true: a scalar boolean."""
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


def forget_provider() -> None:
    """Ask the registry again at the next use (it has changed)."""
    _provider.clear()


def zeros(aval: AbstractValue) -> Any:
    """The zero of type ``aval``."""
    make = getattr(aval, "make_zero", None)
    if make is not None:
        return make()
    own = _extended(aval)
    found = None if own is None else own.dtype.zeros(own.shape)
    found = algebra().full(aval, 0) if found is None else found
    return found if aval.divided is None else divided_as(found, aval, typeof(found))


def add(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents of one type."""
    aval = typeof(x)
    own = _extended(aval)
    if own is not None:
        return own.dtype.add(x, y)
    plus = getattr(aval, "add_tangents", None)
    return plus(x, y) if plus is not None else algebra().add(x, y)


def _extended(aval: AbstractValue) -> Any:
    """The type of an array whose elements are made of others; None for other types."""
    return aval if aval.is_high and isinstance(aval, ShapedArray) else None


def collected(cotangent: Any, aval: AbstractValue) -> Any:
    """A cotangent of a value of type ``aval``: where that is equal on all devices along axes of a
    mesh and the cotangent is not, the sum over them; divided as types say that it is."""
    now = typeof(cotangent)
    if now.vma or aval.vma:
        wanted = cotangent_vma(aval.vma)
        if has_roles(now.vma) or has_roles(wanted):
            cotangent = algebra().with_roles(cotangent, wanted)
        elif more := now.vma - wanted:
            cotangent = algebra().sum_parts(cotangent, more)
    if now.divided is None and aval.divided is None:
        return cotangent
    return divided_as(cotangent, aval.cotangent_type(), now)
