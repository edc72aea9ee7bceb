"""Types of values: abstract values, shaped arrays, and how a Python value gets its type."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from operator import index
from threading import RLock
from typing import Any, ClassVar, final
from weakref import WeakValueDictionary

import ml_dtypes
import numpy as np

from ..base.errors import StandsForArray, array_too_large, masked_array
from ..base.source import called, current_source, describe, short_repr
from ..registry.discovery import registry
from ..xla.config import enable_x64_state
from ..xla.fork import renew_in_child
from .dividing import dividing, dividing_or_none
from .roles import cotangent_vma, text_of, vma_of

DType = np.dtype[Any]


class AbstractValue:
    """A type in the IR. Subclass it (or ``HiType``) to add a kind of value.

    ``is_high`` types are made of low ones and disappear before lowering; ``is_mutable`` marks
    places whose contents operations read and write (see ``mutable``); ``has_mutable_type`` marks
    mutable values whose type may change while a program runs.
    """

    __slots__ = ()
    is_interned: ClassVar[bool] = True
    is_high: bool = False
    is_mutable: ClassVar[bool] = False
    has_mutable_type: ClassVar[bool] = False
    vma: frozenset[Any] = frozenset()
    """Over which axes of a mesh the parts of a value differ, where it is one part for each."""
    holds_varying: ClassVar[bool] = False
    """Whether ``vma`` is of what a place holds, and ``update(vma=...)`` changes it."""
    divided: Any = None
    """How the value is divided along axes of a mesh that types tell of (see ``dividing``)."""
    owns_contents: ClassVar[bool] = True
    """Of a mutable type: nobody else has the arrays that ``take`` returns."""

    def content_types(self) -> tuple[AbstractValue, ...]:
        """Of a mutable type: the types of the values that it holds."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define content_types")

    def take(self, value: Any) -> Sequence[Any]:
        """The contents of a mutable value at rest; a compiled call may overwrite them in place."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define take")

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        """Replace the contents of a mutable value at rest."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define put")

    def lock(self, value: Any) -> Any:
        """Of a mutable type: the lock that a compiled call holds from :meth:`take` to :meth:`put`
        where it overwrites the contents in place; None where nothing can come between."""
        return None

    def read(self, value: Any) -> Sequence[Any]:
        """The contents of a mutable value, traced or at rest, by operations."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define read")

    def write(self, value: Any, contents: Sequence[Any]) -> None:
        """Replace the contents of a mutable value, traced or at rest, by operations."""
        raise NotImplementedError(f"{type(self).__name__} holds no values: define write")

    def tangent_type(self) -> AbstractValue:
        """The type of tangents to values of this type."""
        raise NotImplementedError(f"{type(self).__name__} has no tangent type: define tangent_type")

    def cotangent_type(self) -> AbstractValue:
        """The type of cotangents; by default that of tangents."""
        return self.tangent_type()

    def strong(self) -> AbstractValue:
        """This type without weak typing."""
        return self

    def to_tangent_aval(self) -> AbstractValue:
        """:meth:`tangent_type` by the name that readers of programs use."""
        return self.tangent_type()

    def to_ct_aval(self) -> AbstractValue:
        """:meth:`cotangent_type` likewise."""
        return self.cotangent_type()

    def strip_weak_type(self) -> AbstractValue:
        """:meth:`strong` likewise."""
        return self.strong()

    def str_short(self) -> str:
        """The spelling used in printed IR."""
        return repr(self)


class ExtendedDType:
    """Base of element types that NumPy lacks (for example a random key's); identity is equality.

    An array of such elements is made of arrays of numbers of its own shape, of the element types
    ``low``, and operations that move elements about happen to each of them. Without any the type is
    one of typing alone: no program can be compiled that has it.
    """

    __slots__ = ()
    is_interned = True
    name: ClassVar[str] = "extended"
    itemsize: ClassVar[int] = 0
    kind: ClassVar[str] = "X"
    """None of the letters by which NumPy tells element types apart; ``char`` likewise."""
    char: ClassVar[str] = "X"
    low: tuple[DType, ...] = ()
    remedy: ClassVar[str] = "Convert it first."
    """What errors advise where such elements are given in place of numbers."""

    def arrays_of(self, value: Any) -> Sequence[Any]:
        """The arrays, as many and of the types that ``low`` says, that ``value`` is made of."""
        raise NotImplementedError(f"{type(self).__name__} has no arrays: define arrays_of")

    def value_of(self, arrays: Sequence[Any]) -> Any:
        """The value that is made of ``arrays`` (concrete or traced ones)."""
        raise NotImplementedError(f"{type(self).__name__} has no arrays: define value_of")

    @property
    def tangent(self) -> Any:
        """The element type of tangents; None where such elements have none."""
        return None

    def converts_from(self, dtype: Any) -> bool:
        """Whether numbers of type ``dtype`` can be converted to such elements."""
        return False

    def converts_to(self, dtype: Any) -> bool:
        """Whether such elements can be converted to numbers of type ``dtype``."""
        return False

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """The zero of tangents of this type; None where all that it is made of is zero."""
        return None

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two tangents of this type."""
        raise NotImplementedError(f"{type(self).__name__} has no sums: define add")


float0: DType = np.dtype([("float0", np.void, 0)])
"""The dtype of tangents of integer and boolean values: it holds nothing."""

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


@final
class ShapedArray(AbstractValue):
    """The type of an array: ``shape``, ``dtype``, ``weak_type``, ``vma`` and ``divided``.

    ``vma`` are the axes of a mesh over which the array varies, where it is a part that each device
    has one of (and other roles of axes, see ``roles``); for all others it is empty. ``divided``
    says how it is divided along axes of a mesh that are of type ``Explicit``; it is None for all
    that are not (see ``dividing``). Instances are interned: equal types are one object, so that
    comparing and hashing them is comparing and hashing an address. Arrays of an extended dtype are
    high: made of low ones.

    Args:
        sharding: how it is divided; what that says of other axes is forgotten.
        memory_space: accepted, and forgotten.
    """

    __slots__ = (
        "shape", "dtype", "weak_type", "vma", "divided", "is_high", "_tangent", "__weakref__",
    )  # fmt: skip
    shape: tuple[int, ...]
    dtype: DType
    weak_type: bool
    is_high: bool
    _tangent: ShapedArray | None

    def __new__(
        cls, shape: Sequence[int], dtype: Any, weak_type: bool = False, *, sharding: Any = None,
        vma: Any = None, manual_axis_type: Any = None, memory_space: Any = None,
    ) -> ShapedArray:  # fmt: skip
        if vma is None and manual_axis_type is not None:
            mat = manual_axis_type
            vma = vma_of(mat.varying, mat.unreduced, mat.reduced)
        if vma or sharding is not None:
            return cls._intern(shape, dtype, weak_type, frozenset(vma or ()), sharding)
        found = _interned.get((tuple(shape), dtype, weak_type))
        return found if found is not None else cls._intern(shape, dtype, weak_type)

    @classmethod
    def _intern(
        cls, shape: Sequence[Any], dtype: Any, weak_type: Any, vma: frozenset[Any] = frozenset(),
        sharding: Any = None,
    ) -> ShapedArray:  # fmt: skip
        # What is equal to a dimension to Python (True, NumPy's integers) is not one yet.
        dims = tuple([d if d.__class__ is int else int(_dimension(d)) for d in shape])
        dt: Any = dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
        if prod(filter(None, dims)) * dt.itemsize > LARGEST:
            raise array_too_large(dims, short_dtype(dt))
        plain = (dims, dt, bool(weak_type))
        divided: Any = None
        if sharding is not None and (provider := dividing_or_none()) is not None:
            divided = provider.said(sharding, dims)
        key = plain if not vma and divided is None else (*plain, vma, divided)
        with _interning:  # two threads must not make two of one type
            found = _interned.get(key)
            if found is None:
                found = object.__new__(cls)
                found.shape, found.dtype, found.weak_type = plain
                found.vma = vma
                found.divided = divided
                found.is_high = isinstance(dt, ExtendedDType) and bool(dt.low)
                found._tangent = None
                _interned[key] = found
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        plain = ShapedArray, (self.shape, self.dtype, self.weak_type)
        more = self.vma or self.divided is not None
        return (_placed, (*plain[1], self.vma, self.divided)) if more else plain

    @property
    def sharding(self) -> Any:
        """How it is divided along axes that types tell of; where it is not, copies on the mesh
        around."""
        if self.divided is not None:
            return self.divided
        provider = dividing_or_none()
        return None if provider is None else provider.around(len(self.shape))

    @property
    def manual_axis_type(self) -> Any:
        """:attr:`vma`, as the provider ``manual_axis_type`` writes it; None where there is none."""
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

        Another shape is divided in no way, unless ``sharding`` says how.
        """
        now: dict[str, Any] = {k: getattr(self, k) for k in ("shape", "dtype", "weak_type", "vma")}
        if self.divided is not None and "shape" not in changes:
            now["sharding"] = self.divided
        return ShapedArray(**{**now, **changes})

    def with_dimension(self, at: int, size: int, name: Any = None) -> ShapedArray:
        """With one more dimension, divided along the axis ``name`` of a mesh if there is one."""
        shape, divided = (*self.shape[:at], size, *self.shape[at:]), self.divided
        if divided is None and name is None:
            return self.update(shape=shape)
        return self.update(shape=shape, sharding=dividing().with_dimension(divided, at, name))

    def without_dimension(self, at: int) -> ShapedArray:
        """With one dimension less."""
        shape = self.shape[:at] + self.shape[at + 1 :]
        if self.divided is None:
            return self.update(shape=shape)
        return self.update(shape=shape, sharding=dividing().without_dimension(self.divided, at))

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
        found = self.tangent_type()
        if found.vma and (vma := cotangent_vma(found.vma)) != found.vma:
            found = found.update(vma=vma)
        if found.divided is None:
            return found
        divided = dividing().cotangent(found.divided)
        return found if divided is found.divided else found.update(sharding=divided)

    def lo_ty(self) -> list[ShapedArray]:
        """The types of the arrays that a value is made of: itself, but for an extended dtype."""
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

    def str_short(self, short_dtypes: bool = True) -> str:
        return self._text(short_dtype(self.dtype) if short_dtypes else self.dtype.name, "~")

    def _text(self, dtype: str, weak: str) -> str:
        dims, roles = list(map(str, self.shape)), list[str]()
        if self.divided is not None:
            dims, roles = dividing().text(self.divided, self.shape)
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


NOWHERE: frozenset[Any] = frozenset()
"""No axes: what values vary over that are no parts."""


def varied(aval: Any, vma: frozenset[Any]) -> Any:
    """The type of an array, or of a place that holds one, that varies over these axes and no
    others; other types as they are."""
    if aval.vma == vma or not (aval.__class__ is ShapedArray or aval.holds_varying):
        return aval
    return aval.update(vma=vma)


def are_divided(avals: Sequence[AbstractValue]) -> bool:
    """Whether a type among these tells how values are divided."""
    return any(a.divided is not None for a in avals)


def undivided(aval: Any) -> Any:
    """The type of an array that is divided in no way that types tell; other types as they are."""
    return aval if aval.divided is None else aval.update(sharding=None)


_SHORT = {"float": "f", "bfloat": "bf", "complex": "c", "uint": "u", "int": "i"}


def short_dtype(dtype: Any) -> str:
    """``float32`` as ``f32`` and so on; ``bool`` and unusual types keep their names."""
    if dtype == float0:
        return "float0"
    name: str = dtype.name
    stem = name.rstrip("0123456789")
    return _SHORT[stem] + name[len(stem) :] if stem in _SHORT and stem != name else name


_inexact: dict[Any, bool] = {}


def is_inexact(dtype: Any) -> bool:
    """Whether ``dtype`` is a floating-point or complex type (also ml_dtypes' floats)."""
    known = _inexact.get(dtype)
    if known is None:
        known = not isinstance(dtype, ExtendedDType) and dtype != float0 and _is_float(dtype)
        _inexact[dtype] = known
    return known


def _is_float(dtype: Any) -> bool:
    if np.issubdtype(dtype, np.inexact):
        return True
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return True


def numpy_dtype(aval: AbstractValue) -> DType | None:
    """The element type of an array of numbers that NumPy can hold; None for every other type."""
    dtype: Any = aval.dtype if isinstance(aval, ShapedArray) else None
    return None if isinstance(dtype, ExtendedDType) or dtype == float0 else dtype


_NARROW: dict[DType, DType] = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


def is_wide(dtype: Any) -> bool:
    """Whether arrays have this element type only where ``enable_x64`` is on."""
    return dtype in _NARROW


def canonical_dtype(dtype: Any) -> DType:
    """``dtype`` as arrays hold it: in the machine's byte order, and 64-bit types narrowed to 32
    bits unless ``enable_x64`` is on."""
    if isinstance(dtype, ExtendedDType):
        return dtype  # type: ignore[return-value]
    dt = dtype_named(dtype)
    if not dt.isnative:
        dt = dt.newbyteorder("=")
    return dt if enable_x64_state.value else _NARROW.get(dt, dt)


class NotDtype(TypeError, ValueError):
    """An array was given where its dtype is wanted."""


def dtype_named(dtype: Any) -> np.dtype[Any]:
    """``np.dtype(dtype)``.

    Raises:
        TypeError: it names no dtype. NotDtype: it is an array, which has one.
    """
    is_array = hasattr(dtype, "aval")
    try:
        if is_array:
            raise TypeError
        return np.dtype(dtype)
    except Exception:
        raise (NotDtype if is_array else TypeError)(
            f"dtype must be an element type, its name or a scalar type, got {short_repr(dtype)} of "
            f"type {type(dtype).__name__}{called()}. Give for example 'float32', or the .dtype "
            "of an array."
        ) from None


TypeHandler = Callable[[Any], AbstractValue]
type_handlers: dict[type, TypeHandler] = {}
"""What says the types of values, by their Python class (see :func:`register_type`)."""


def register_type(cls: type, handler: TypeHandler) -> None:
    """Say that instances of ``cls`` are values, of the abstract type ``handler(x)``."""
    type_handlers[cls] = handler


def typeof(x: Any) -> AbstractValue:
    """The abstract type of a value: an array, a tracer, a NumPy value, a Python scalar, or what
    a plugin registers.

    Raises:
        TypeError: ``x`` is of no registered type; the message says which types are.
        ValueError: ``x`` is a masked array.
    """
    handler = type_handlers.get(x.__class__) or _inherited(x)
    return handler(x)


def is_value(x: Any) -> bool:
    """Whether ``typeof(x)`` is defined."""
    if not any(c in type_handlers for c in type(x).__mro__):
        return False
    try:
        typeof(x)
    except (TypeError, ValueError):  # an array of strings, say
        return False
    return True


def _inherited(x: Any) -> TypeHandler:
    masks = sys.modules.get("numpy.ma")  # slow to import, and unused where it is not
    masked = getattr(masks, "MaskedArray", None)  # None, too, while another thread imports it
    if masked is not None and isinstance(x, masked):
        raise masked_array()
    for base in type(x).__mro__:
        if base in type_handlers:
            type_handlers[type(x)] = type_handlers[base]
            return type_handlers[base]
    if registry().import_types() or any(c in type_handlers for c in type(x).__mro__):
        return type_handlers.get(x.__class__) or _inherited(x)
    shown = short_repr(x)
    kind = StandsForArray if hasattr(x, "__jax_array__") else TypeError
    raise kind(
        f"{shown} of type {type(x).__name__} is not a valid "
        "array value. Pass an array, a NumPy value or a Python scalar; for a container of arrays "
        "register its type as a pytree (dovetail.tree_util.register_pytree_node); mark other "
        f"arguments of jitted functions as static (static_argnums, static_argnames){called()}."
    )


def _scalar_handler(wide: str, narrow: str) -> TypeHandler:
    types = {True: ShapedArray((), wide, True), False: ShapedArray((), narrow, True)}
    return lambda x: types[enable_x64_state.value]


def _numpy_type(x: Any) -> ShapedArray:
    dtype = x.dtype
    long = dtype.char in "gG" and dtype.kind in "fc"  # more than 64 bits per number
    if long or dtype.kind in "OSUMm" or (dtype.kind == "V" and not _is_number(dtype)):
        why = "only numbers and booleans can be traced"
        if long:
            why = "only numbers and booleans of 64 bits can be, devices hold no such elements"
        raise TypeError(
            f"an array of dtype {dtype} is not a valid array value{called()}: {why}. Convert it "
            "first, for example with x.astype(float)."
        )
    return ShapedArray(x.shape, canonical_dtype(dtype))


def _is_number(dtype: Any) -> bool:
    """Whether a dtype of NumPy's kind V is one of ml_dtypes' numbers, or float0."""
    return dtype == float0 or (dtype.fields is None and dtype.type is not np.void)


_bool_type = ShapedArray((), np.bool_)
register_type(bool, lambda x: _bool_type)
register_type(int, _scalar_handler("int64", "int32"))
register_type(float, _scalar_handler("float64", "float32"))
register_type(complex, _scalar_handler("complex128", "complex64"))
register_type(np.ndarray, _numpy_type)
register_type(np.generic, _numpy_type)


def is_as_said(found: Any, wanted: Any) -> bool:
    """Whether a value is of the type that the author of a high type says.

    Where that tells nothing of a mesh, the value may be divided along its axes, or vary.
    """
    if found.strong() == wanted.strong():
        return True
    if not isinstance(found, ShapedArray) or not isinstance(wanted, ShapedArray):
        return False
    if wanted.vma or wanted.divided is not None:
        return False
    return found.update(vma=frozenset(), sharding=None).strong() == wanted.strong()
