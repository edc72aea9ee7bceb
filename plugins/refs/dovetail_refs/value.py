"""Concrete references, outside of all transformations, which own one array."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from threading import RLock
from typing import Any, NoReturn

from dovetail_core import (
    AbstractValue,
    Cache,
    Tracer,
    algebra,
    check_alive,
    get_trace,
    here,
    register_type,
    staging,
    typeof,
)
from dovetail_jit import jit
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.config import trace_context

from .functions import Access
from .indexing import Chain, Index, accumulate, read, with_integer_operands, write
from .types import AbstractRef


class _RefMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        """True for traced references as well."""
        if type.__instancecheck__(cls, instance):
            return True
        return isinstance(instance, Tracer) and isinstance(instance.aval, AbstractRef)


class Ref(Access, metaclass=_RefMeta):
    """A mutable array: ``ref[...]`` reads it, ``ref[index] = value`` writes to it.

    Make one with ``new_ref``. Inside of transformed functions a reference is traced; ``isinstance``
    and annotations with ``Ref`` are true of both.
    """

    __slots__ = ("_content", "_closed", "_aval", "_lock", "__weakref__")
    _content: Any
    # Held while the content is overwritten in place. Nothing is traced, compiled or imported while
    # it is held, so that threads that wait for it hold nothing that its owner needs.
    _lock: Any
    _closed: str
    _aval: AbstractRef

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("references are made by dovetail.new_ref(value), not by Ref(...)")

    @staticmethod
    def holding(x: Any, own: bool = False, kind: str | None = None) -> Ref:
        """A new reference to a copy of ``x``; to ``x`` itself if ``own``: it has no other owner."""
        aval = AbstractRef(typeof(x), None, kind)
        ref = object.__new__(Ref)
        high = aval.inner_aval.is_high
        is_array = x.__class__ is ArrayImpl and x.aval is aval.inner_aval
        converted = x if is_array or high else algebra().array(x, aval.inner_aval)
        ref._content = copy.copy(x) if is_array and not own else converted
        ref._closed, ref._aval, ref._lock = "", aval, RLock()
        return ref

    def __copy__(self) -> Ref:
        return self  # a shallow copy would have to share the contents

    def __deepcopy__(self, memo: Any) -> Ref:
        return Ref.holding(self._copy(), own=True, kind=self._aval.kind)

    # The array, for the rules of references.

    def _array(self) -> Any:
        with self._lock:
            if self._closed:
                raise RuntimeError(
                    f"{self._aval.str_short()} is used{here()} after it was {self._closed}"
                )
            if self._content.__class__ is ArrayImpl and self._content.is_deleted():
                raise RuntimeError(
                    f"{self._aval.str_short()} is used{here()}, but the call that updated it last "
                    "failed when it had begun to overwrite it: make a new one."
                )
            return self._content

    def read(self, chain: Chain, operands: Sequence[Any]) -> Any:
        """The contents at an index, as a new array."""
        if self._aval.inner_aval.is_high:
            return read(self._array(), chain, operands)
        if not chain:
            return self._copy()
        if key := self._new("read", chain, operands):
            result = read(self._copy(), chain, operands)
            _compiled[key] = True
            return result
        with self._lock:
            content = self._array()
            result = read(content, chain, operands)
            return copy.copy(result) if result is content else result

    def _copy(self) -> Any:
        # The array must not be overwritten while it is copied: the runtime would crash.
        with self._lock:
            return copy.copy(self._array())

    def update(self, kind: str, value: Any, chain: Chain, operands: Sequence[Any]) -> None:
        """Write (``"set"``) or add (``"add"``) a value at an index, in place."""
        if self._aval.inner_aval.is_high:
            change = accumulate if kind == "add" else write
            self._content = change(self._array(), chain, operands, value)
            return
        if value.__class__ is not ArrayImpl:
            value = algebra().array(value, typeof(value).strong())
        if not chain and kind == "set":
            result = copy.copy(value)
            with self._lock:
                self._array()  # raises if the reference was freed
                self._content = result
            return
        index = with_integer_operands(Index(chain, list(operands)))
        where: dict[str, Any] = {"kind": kind, "chain": index.chain}
        if key := self._new(kind, index.chain, [value, *index.operands]):
            _updated(self._copy(), value, *index.operands, **where)
            _compiled[key] = True
        with self._lock:
            self._content = _updated(self._array(), value, *index.operands, **where)

    def _new(self, kind: str, chain: Chain, operands: Sequence[Any]) -> Any:
        """The key of an update that is not compiled yet, else None.

        Such an update is applied to a copy first, as compilation may run other code while the lock
        is held. For large contents, whose copy would take much memory, the key is None, too.
        """
        types = tuple([typeof(x) for x in operands])
        key = self._aval, types, kind, chain, trace_context()
        if key in _compiled or self.size * self.dtype.itemsize > COPIED:
            return None
        return key

    def close(self, how: str) -> Any:
        """Make the reference unusable, and return its contents."""
        with self._lock:
            content = self._array()
            self._closed = f"{how}{here()}. Read or copy it before."
            self._content = None
        return content

    # Python's protocols.

    @property
    def aval(self) -> AbstractRef:
        return self._aval

    @property
    def shape(self) -> tuple[int, ...]:
        return self._aval.inner_aval.shape

    @property
    def dtype(self) -> Any:
        return self._aval.inner_aval.dtype

    @property
    def ndim(self) -> int:
        return self._aval.inner_aval.ndim

    @property
    def size(self) -> int:
        return self._aval.inner_aval.size

    # Placement of the array; AttributeError for contents that are not arrays.

    @property
    def sharding(self) -> Any:
        return self._array().sharding

    @property
    def format(self) -> Any:
        return self._array().format

    @property
    def committed(self) -> bool:
        return self._array().committed

    def unsafe_buffer_pointer(self) -> int:
        return self._array().unsafe_buffer_pointer()

    def __bool__(self) -> bool:
        return self._no_number("a condition")

    def __float__(self) -> float:
        return self._no_number("a number")

    __int__ = __index__ = __complex__ = __float__  # type: ignore[assignment]

    def _no_number(self, what: str) -> NoReturn:
        raise TypeError(
            f"{self._aval.str_short()} is used as {what}{here()}: read its value, ref[...]"
        )

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._no_number("an array")

    def __repr__(self) -> str:
        if self._closed:
            return f"Ref({self._aval.inner_aval.str_short()}, {self._closed.partition(' ')[0]})"
        if self._aval.inner_aval.is_high:
            return f"Ref({self._content!r})"
        shown = repr(self._copy())  # a NumPy view of the array itself would outlive it
        return f"Ref({shown.partition('(')[2]}" if "(" in shown else f"Ref({shown})"

    def __str__(self) -> str:
        if self._closed or self._aval.inner_aval.is_high:
            return repr(self)
        return str(self._copy())

    def __class_getitem__(cls, item: Any) -> Any:
        """``Ref[...]`` in annotations."""
        return cls


def _type_of(ref: Ref) -> AbstractValue:
    return ref._aval  # pyright: ignore[reportPrivateUsage]


register_type(Ref, _type_of)

_compiled: Cache[Any, bool] = Cache()  # keys of compiled updates
COPIED = 1 << 20
"""The greatest number of bytes that are copied for the sake of compilation."""


@partial(jit, static_argnames=("kind", "chain"), donate_argnums=0)
def _updated(content: Any, value: Any, *operands: Any, kind: str, chain: Chain) -> Any:
    change = accumulate if kind == "add" else write
    return change(content, chain, operands, value)


def concrete_ref(x: Any) -> Ref:
    """``x``, a reference that is not traced.

    Raises:
        UnexpectedTracerError: it is a tracer of a transformation that has ended or does not enclose
            the operation.
    """
    if isinstance(x, Tracer):
        check_alive(x)
        staging.check_in_scope(x, get_trace())
    return x  # type: ignore[return-value]
