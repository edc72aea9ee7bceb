"""Types of values: abstract values and shaped arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from threading import RLock
from typing import Any, ClassVar, final
from weakref import WeakValueDictionary

import numpy as np

from dovetail_base.errors import array_too_large
from dovetail_base.source import current_source, describe
from dovetail_mesh.manual_axis_types import NO_AXES, cotangent_vma, text_of, vma_of
from dovetail_xla.fork import renew_in_child

from ..registry.discovery import registry
from .dtypes import DType, ExtendedDType, float0, is_inexact, short_dtype
from .type_shardings import sharding_provider, sharding_provider_or_none


class AbstractValue:
    """A type in the IR. Subclass it (or ``HiType``) to add a kind of value.

    ``is_high`` types are made of low ones and are removed before lowering; ``is_mutable`` marks
    types of values whose contents operations read and write (see ``mutable``); ``has_mutable_type``
    marks mutable values whose type may change while a program runs.
    """

    __slots__ = ()
    is_interned: ClassVar[bool] = True
    is_high: bool = False
    is_mutable: ClassVar[bool] = False
    has_mutable_type: ClassVar[bool] = False
    vma: frozenset[Any] = NO_AXES
    """The axes of a mesh over which a value varies, if devices have a part each."""
    holds_varying: ClassVar[bool] = False
    """True if ``vma`` is that of a mutable value's contents, and ``update(vma=...)`` changes it."""
    divided: Any = None
    """The value's division along ``Explicit`` axes of a mesh (see ``type_shardings``)."""
    owns_contents: ClassVar[bool] = True
    """True for a mutable type if nothing else refers to the arrays that ``take`` returns."""

    def content_types(self) -> tuple[AbstractValue, ...]:
        """Of a mutable type: the types of the values that it holds."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define content_types")

    def with_contents(self, types: Sequence[AbstractValue]) -> AbstractValue | None:
        """Of a mutable type: the type with contents of other types, such as the slices along a
        leading axis that the iterations of a loop get; None if there is none."""
        return None

    def take(self, value: Any) -> Sequence[Any]:
        """The contents of a concrete mutable value; a compiled call may overwrite them in place."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define take")

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        """Replace the contents of a concrete mutable value."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define put")

    def lock(self, value: Any) -> Any:
        """Of a mutable type: the lock that a compiled call holds from :meth:`take` to :meth:`put`
        if it overwrites the contents in place; None if it needs none."""
        return None

    def read(self, value: Any) -> Sequence[Any]:
        """The contents of a mutable value, traced or concrete, by operations."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define read")

    def write(self, value: Any, contents: Sequence[Any]) -> None:
        """Replace the contents of a mutable value, traced or concrete, by operations."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define write")

    def make(self, contents: Sequence[Any]) -> Any:
        """A new mutable value of this type that holds ``contents``, by operations."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define make")

    def tangent_type(self) -> AbstractValue:
        """The type of tangents to values of this type."""
        raise NotImplementedError(f"{type(self).__name__} has no tangent type: define tangent_type")

    def cotangent_type(self) -> AbstractValue:
        """The type of cotangents; by default that of tangents."""
        return self.tangent_type()

    def strong(self) -> AbstractValue:
        """This type without weak typing."""
        return self

    def with_vma(self, vma: frozenset[Any]) -> Any:
        """The type of an array, or of a reference to one, that varies over these axes of a mesh;
        other types as they are."""
        own: Any = self
        return own.update(vma=vma) if self.holds_varying and vma != self.vma else self

    def without_sharding(self) -> Any:
        """The type of an array without its division; other types as they are."""
        own: Any = self
        return self if self.divided is None else own.update(sharding=None)

    def numpy_dtype(self) -> DType | None:
        """The element type of an array of numbers that NumPy can hold; None for other types."""
        return None

    def is_declared_as(self, declared: AbstractValue) -> bool:
        """Return whether a value of this type is one of the type that an author declared.

        If a declared array type has no axes of a mesh, the value may be divided along them, or
        vary.
        """
        return self.strong() == declared.strong()

    def to_tangent_aval(self) -> AbstractValue:
        """:meth:`tangent_type`, under its public name in JAX."""
        return self.tangent_type()

    def to_ct_aval(self) -> AbstractValue:
        """:meth:`cotangent_type`, under its public name in JAX."""
        return self.cotangent_type()

    def strip_weak_type(self) -> AbstractValue:
        """:meth:`strong`, under its public name in JAX."""
        return self.strong()

    def str_short(self) -> str:
        """The spelling used in printed IR."""
        return repr(self)


_interned: WeakValueDictionary[tuple[Any, ...], ShapedArray] = WeakValueDictionary()
_interning = RLock()  # a finaliser may make types while its thread is making one
renew_in_child(_interning)


LARGEST = 1 << 60
"""Bytes. Sums and products of sizes beyond it overflow the runtime's 64 bits: it aborts."""


def _dimension(d: Any) -> int:
    try:
        return index(d)
    except TypeError:
        raise TypeError(
            f"shapes are made of integers, got {d!r} of type {type(d).__name__}"
            f"{describe(current_source())}. Convert it with int(...)."
        ) from None


def shape_and_dtype(shape: Sequence[Any], dtype: Any) -> tuple[tuple[int, ...], Any]:
    """A shape and an element type in the form that types have.

    Raises:
        TypeError: they are no shape or element type. ValueError: such an array is too large.
    """
    # Objects that equal a Python integer (True, NumPy's integers) are converted to one.
    dims = tuple([d if d.__class__ is int else int(_dimension(d)) for d in shape])
    dt: Any = dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
    if prod(filter(None, dims)) * dt.itemsize > LARGEST:
        raise array_too_large(dims, short_dtype(dt))
    return dims, dt


@final
class ShapedArray(AbstractValue):
    """The type of an array: ``shape``, ``dtype``, ``weak_type``, ``vma`` and ``divided``.

    ``vma`` are the axes of a mesh over which the array varies, if it is one of the parts that
    devices have (and other roles of axes, see ``manual_axis_types``); else it is empty. ``divided``
    is its division along axes of a mesh that are of type ``Explicit``, or None (see
    ``type_shardings``).
    Instances are interned: equal types are one object, so that comparing and hashing them is
    comparing and hashing an address. Arrays of an extended dtype are high: made of low ones.

    Args:
        sharding: its division; that along axes of other types is ignored.
        memory_space: accepted, and ignored.
    """

    __slots__ = (
        "shape", "dtype", "weak_type", "vma", "divided", "is_high", "_tangent", "__weakref__",
    )  # fmt: skip
    shape: tuple[int, ...]
    dtype: DType
    weak_type: bool
    is_high: bool
    _tangent: ShapedArray | None
    shape_and_dtype = staticmethod(shape_and_dtype)

    def __new__(
        cls, shape: Sequence[int], dtype: Any, weak_type: bool = False, *, sharding: Any = None,
        vma: Any = None, manual_axis_type: Any = None, memory_space: Any = None,
    ) -> ShapedArray:  # fmt: skip
        if vma is None and manual_axis_type is not None:
            mat = manual_axis_type
            vma = vma_of(mat.varying, mat.unreduced, mat.reduced)
        if vma or sharding is not None:
            return cls._intern(shape, dtype, weak_type, frozenset(vma or ()), sharding)
        result = _interned.get((tuple(shape), dtype, weak_type))
        return result if result is not None else cls._intern(shape, dtype, weak_type)

    @classmethod
    def _intern(
        cls, shape: Sequence[Any], dtype: Any, weak_type: Any, vma: frozenset[Any] = frozenset(),
        sharding: Any = None,
    ) -> ShapedArray:  # fmt: skip
        dims, dt = shape_and_dtype(shape, dtype)
        plain = (dims, dt, bool(weak_type))
        divided: Any = None
        if sharding is not None and (provider := sharding_provider_or_none()) is not None:
            divided = provider.division_of(sharding, dims)
        key = plain if not vma and divided is None else (*plain, vma, divided)
        with _interning:  # two threads must not make two of one type
            result = _interned.get(key)
            if result is None:
                result = object.__new__(cls)
                result.shape, result.dtype, result.weak_type = plain
                result.vma = vma
                result.divided = divided
                result.is_high = isinstance(dt, ExtendedDType) and bool(dt.low)
                result._tangent = None
                _interned[key] = result
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        plain = ShapedArray, (self.shape, self.dtype, self.weak_type)
        more = self.vma or self.divided is not None
        return (_placed, (*plain[1], self.vma, self.divided)) if more else plain

    @property
    def sharding(self) -> Any:
        """Its division along ``Explicit`` axes; without one, replicated on the mesh that is set."""
        if self.divided is not None:
            return sharding_provider().as_sharding(self.divided)
        provider = sharding_provider_or_none()
        return None if provider is None else provider.default_sharding(len(self.shape))

    @property
    def manual_axis_type(self) -> Any:
        """:attr:`vma` in the form of the provider ``manual_axis_type``; None without one."""
        provider = registry().provider("manual_axis_type", default=None)
        return None if provider is None else provider(self)

    mat = manual_axis_type

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.itemsize

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def update_weak_type(self, weak_type: bool) -> ShapedArray:
        """A copy with another ``weak_type``."""
        return self.update(weak_type=weak_type)

    def update(self, **changes: Any) -> ShapedArray:
        """A copy with some of ``shape``, ``dtype``, ``weak_type``, ``vma``, ``sharding`` replaced.

        A copy of another shape is not divided, unless ``sharding`` is given.
        """
        now: dict[str, Any] = {k: getattr(self, k) for k in ("shape", "dtype", "weak_type", "vma")}
        if self.divided is not None and "shape" not in changes:
            now["sharding"] = self.divided
        return ShapedArray(**{**now, **changes})

    def with_dimension(self, at: int, size: int, name: Any = None) -> ShapedArray:
        """A copy with a further dimension, divided along the axis ``name`` of a mesh if given."""
        shape, divided = (*self.shape[:at], size, *self.shape[at:]), self.divided
        if divided is None and name is None:
            return self.update(shape=shape)
        return self.update(
            shape=shape, sharding=sharding_provider().with_dimension(divided, at, name)
        )

    def without_dimension(self, at: int) -> ShapedArray:
        """A copy without one of its dimensions."""
        shape = self.shape[:at] + self.shape[at + 1 :]
        if self.divided is None:
            return self.update(shape=shape)
        return self.update(
            shape=shape, sharding=sharding_provider().without_dimension(self.divided, at)
        )

    def tangent_type(self) -> ShapedArray:
        if self._tangent is None:
            own: Any = self.dtype
            if isinstance(own, ExtendedDType):
                own = own.tangent
            elif not is_inexact(own):
                own = None
            dtype = float0 if own is None else own
            self._tangent = ShapedArray(self.shape, dtype, sharding=self.divided, vma=self.vma)
        return self._tangent

    def cotangent_type(self) -> ShapedArray:
        result = self.tangent_type()
        if result.vma and (vma := cotangent_vma(result.vma)) != result.vma:
            result = result.update(vma=vma)
        if result.divided is None:
            return result
        divided = sharding_provider().cotangent(result.divided)
        return result if divided is result.divided else result.update(sharding=divided)

    def lo_ty(self) -> list[ShapedArray]:
        """The types of the arrays that a value is made of: this one, but for an extended dtype."""
        if not self.is_high:
            return [self]
        dtype: Any = self.dtype
        where = self.divided
        return [ShapedArray(self.shape, d, sharding=where, vma=self.vma) for d in dtype.low]

    def lower_val(self, value: Any) -> Sequence[Any]:
        """The arrays of a value."""
        dtype: Any = self.dtype
        return dtype.arrays_of(value) if self.is_high else [value]

    def raise_val(self, *arrays: Any) -> Any:
        """The value that is made of ``arrays``."""
        dtype: Any = self.dtype
        return dtype.value_of(arrays) if self.is_high else arrays[0]

    def strong(self) -> ShapedArray:
        return self.update(weak_type=False) if self.weak_type else self

    def with_vma(self, vma: frozenset[Any]) -> ShapedArray:
        return self if vma == self.vma else self.update(vma=vma)

    def numpy_dtype(self) -> DType | None:
        dtype: Any = self.dtype
        return None if isinstance(dtype, ExtendedDType) or dtype == float0 else dtype

    def is_declared_as(self, declared: AbstractValue) -> bool:
        if self.strong() == declared.strong():
            return True
        if not isinstance(declared, ShapedArray) or declared.vma or declared.divided is not None:
            return False
        return self.update(vma=NO_AXES, sharding=None).strong() == declared.strong()

    def str_short(self, short_dtypes: bool = True) -> str:
        return self._text(short_dtype(self.dtype) if short_dtypes else self.dtype.name, "~")

    def _text(self, dtype: str, weak: str) -> str:
        dims, roles = list(map(str, self.shape)), list[str]()
        if self.divided is not None:
            dims, roles = sharding_provider().text(self.divided, self.shape)
        if self.vma:
            roles = [*text_of(self.vma), *roles]
        behind = f"{{{', '.join(roles)}}}" if roles else ""
        return f"{dtype}[{','.join(dims)}]{weak if self.weak_type else ''}{behind}"

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self._text(self.dtype.name, '')}"

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self._text(self.dtype.name, '')}{weak})"


def _placed(
    shape: Any, dtype: Any, weak_type: bool, vma: frozenset[Any], sharding: Any = None
) -> ShapedArray:
    return ShapedArray(shape, dtype, weak_type, sharding=sharding, vma=vma)


_varying = _placed  # by this name in what was pickled before


def low_types(avals: Sequence[AbstractValue]) -> list[AbstractValue]:
    """The types of the arrays of values of types ``avals``, in order."""
    high: Any = avals
    return [t for a in high for t in (a.lo_ty() if a.is_high else (a,))]


def leading_size(aval: AbstractValue) -> int | None:
    """The length of the leading axis (of a mutable type that of its contents), or None."""
    if aval.is_mutable:
        (aval,) = aval.content_types()
    high: Any = aval
    if aval.is_high and not isinstance(aval, ShapedArray):
        return high.axis_size(high.leading_spec())
    return high.shape[0] if high.shape else None


def without_leading(aval: AbstractValue) -> AbstractValue:
    """The type of a slice of the leading axis."""
    if isinstance(aval, ShapedArray):
        return aval.without_dimension(0)
    if aval.is_mutable:
        part = aval.with_contents([without_leading(a) for a in aval.content_types()])
        assert part is not None  # loops ask before
        return part
    high: Any = aval
    spec = high.leading_spec()
    return high.mapped(high.axis_size(spec), spec)


def with_leading(aval: AbstractValue, size: int) -> AbstractValue:
    """The type of ``size`` values stacked along a new leading axis."""
    if isinstance(aval, ShapedArray):
        return aval.with_dimension(0, size)
    high: Any = aval
    return high.unmapped(size, high.leading_spec())
