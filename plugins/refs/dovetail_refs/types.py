"""The type of references, mutable values with one array as contents, and errors of references.

``functions`` sets the operators of references.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any, cast, final
from weakref import WeakValueDictionary

from dovetail_core import AbstractValue, HiType, ShapedArray, here
from dovetail_text.syntax import register_type_notation

NO_GRAD = "no_grad_no_remat"
"""The kind of references without derivatives: values written to and read from them have none. (Like
all references they are written once, even if values are computed again.)"""

_interned: WeakValueDictionary[Any, AbstractRef] = WeakValueDictionary()
_interning = RLock()  # a finaliser may make types while its thread is making one


@final
class AbstractRef(AbstractValue):
    """The type of references to an array, or a value of a high type, of type ``inner_aval``.

    Equal types are one object. ``memory_space`` is accepted for compatibility and must be None:
    references are in the memory of arrays. ``kind`` is None or :data:`NO_GRAD`.

    Raises:
        TypeError: ``inner_aval`` is itself mutable, or not a type.
        NotImplementedError: a memory space is given. ValueError: there is no such kind.
    """

    __slots__ = ("inner_aval", "memory_space", "kind", "__weakref__")
    is_mutable = True
    holds_varying = True
    inner_aval: Any
    memory_space: Any
    kind: str | None

    def __new__(cls, inner_aval: Any, memory_space: Any = None, kind: Any = None) -> AbstractRef:
        if not isinstance(inner_aval, (ShapedArray, HiType)) or inner_aval.is_mutable:
            raise TypeError(
                f"a reference holds a value, not {inner_aval!r}: make one reference per array "
                "(references may stand in pytrees)."
            )
        if memory_space is not None:
            raise NotImplementedError(
                f"references with memory_space={memory_space!r}: only None is supported, the "
                f"memory of arrays{here()}"
            )
        if kind is not None and kind != NO_GRAD:
            raise ValueError(f"references are of kind None or {NO_GRAD!r}, not {kind!r}{here()}")
        key = inner_aval.strong(), kind
        result = _interned.get(key)
        return result if result is not None else cls._intern(key)

    @classmethod
    def _intern(cls, key: tuple[Any, str | None]) -> AbstractRef:
        with _interning:  # two threads must not make two of one type
            result = _interned.get(key)
            if result is None:
                result = object.__new__(cls)
                result.inner_aval, result.kind = key
                result.memory_space = None
                _interned[key] = result
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return AbstractRef, (self.inner_aval, None, self.kind)

    def to(self, inner_aval: Any) -> AbstractRef:
        """The type of such references to values of another type."""
        return AbstractRef(inner_aval, None, self.kind)

    @property
    def vma(self) -> frozenset[Any]:  # type: ignore[override]
        """The axes of a mesh over which the contents vary."""
        return self.inner_aval.vma

    @property
    def ndim(self) -> int:
        return self.inner_aval.ndim

    @property
    def size(self) -> int:
        return self.inner_aval.size

    def update(self, **changes: Any) -> AbstractRef:
        """The type of references to arrays of another ``shape``, ``dtype`` or ``vma``."""
        return self.to(self.inner_aval.update(**changes))

    @property
    def dtype(self) -> Any:
        return self.inner_aval.dtype

    @property
    def weak_type(self) -> bool:
        return False

    def tangent_type(self) -> AbstractRef:
        return self.to(self.inner_aval.tangent_type())

    def str_short(self) -> str:
        kind = "" if self.kind is None else f" {self.kind}"
        return f"Ref{{{self.inner_aval.str_short()}{kind}}}"

    def __repr__(self) -> str:
        kind = "" if self.kind is None else f", kind={self.kind!r}"
        return f"AbstractRef({self.inner_aval.str_short()}{kind})"

    @property
    def owns_contents(self) -> bool:
        return not self.inner_aval.is_high  # other values may use the arrays of a high value

    # Contents of concrete references (of class Ref), for compiled calls.

    def content_types(self) -> tuple[AbstractValue, ...]:
        return (self.inner_aval,)

    def with_contents(self, types: Sequence[AbstractValue]) -> AbstractRef:
        return self.to(*types)

    def take(self, value: Any) -> Sequence[Any]:
        return (value._array(),)

    def lock(self, value: Any) -> Any:
        return value._lock if self.owns_contents else None

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        value._content = contents[0]


def _shape(ref: Any) -> tuple[int, ...]:
    return cast(Any, ref).inner_aval.shape


# Set after the class: an attribute of the class body would be hidden by that of the base class.
AbstractRef.shape = property(_shape)  # type: ignore[attr-defined]


def _from_text(text: str) -> AbstractRef:
    from dovetail_core import parse_type

    held, _, kind = text.rpartition(" ")
    return (
        AbstractRef(parse_type(held), None, kind)
        if kind == NO_GRAD
        else AbstractRef(parse_type(text))
    )


register_type_notation("Ref", _from_text)


class RefTypeError(TypeError, ValueError):
    """A value that is not a reference, or has another type than the reference to which it is
    written. (JAX raises ValueError.)"""


class RefIndexError(IndexError, ValueError):
    """An index out of the range of a reference. (JAX raises ValueError.)"""
