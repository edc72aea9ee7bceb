"""The value of an array in Python: as a NumPy array, as Python scalars and lists, and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base.source import called
from dovetail_core import here
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayImpl, XlaRuntimeError, install
from dovetail_xla.callbacks import exception_behind

from .state import check_usable, deleted_error, refuse_summands, spelled


def value_of(x: Any) -> np.ndarray[Any, Any]:
    """The value as a read-only NumPy array, without a copy where memory can be shared; waits.

    Raises:
        RuntimeError: the array was deleted or donated, or its computation failed.
        NotImplementedError: devices hold summands of it.
        Exception: a Python function that the computation called back raised it.
    """
    try:
        return _read(x)
    except XlaRuntimeError as error:
        failure = [exception_behind(error)]
    raise failure.pop()


def _read(x: Any) -> np.ndarray[Any, Any]:
    try:
        value = np.asarray(memoryview(x))
    except BufferError:
        if x.is_deleted():
            raise deleted_error(x) from None
        refuse_summands(x._sharding, "read")
        return _gathered(x)
    # For an array that is divided among processes it is the only part that this process has.
    aval = x.aval
    if aval is not None and aval.divided is not None:
        refuse_summands(x._sharding, "read")
    return value if aval is None or value.shape == aval.shape else _gathered(x)


def _gathered(x: Any) -> np.ndarray[Any, Any]:
    try:
        return arrays.to_numpy(x)
    except RuntimeError as e:
        if x._sharding._internal_device_list.is_fully_addressable:
            raise
        raise RuntimeError(f"an array of type {spelled(x)} is read{here()}: {e}.") from None


def _array(self: ArrayImpl, dtype: Any = None, copy: bool | None = None) -> Any:
    """The value as a NumPy array (``numpy.asarray(x)``); read-only unless it is a copy."""
    value = value_of(self)
    if dtype is not None and np.dtype(dtype) != value.dtype:
        if copy is False:
            raise ValueError(
                f"an array of type {spelled(self)} cannot become a NumPy array of dtype "
                f"{np.dtype(dtype)} without a copy: drop copy=False."
            )
        return value.astype(dtype)
    return value.copy() if copy else value


def _not_scalar(x: ArrayImpl, wanted: str) -> TypeError:
    return TypeError(
        f"an array of type {spelled(x)} is converted to a Python {wanted}{here()}: only an "
        "array without dimensions is one number. Pick an element (x[0]), reduce it (x.sum()), or "
        "take all of them (x.tolist(), numpy.asarray(x))."
    )


def _real(x: ArrayImpl, wanted: str) -> Any:
    if x.aval.shape != ():
        raise _not_scalar(x, wanted)
    if x.aval.dtype.kind == "c":
        raise TypeError(
            f"a complex array of type {spelled(x)} is converted to a Python {wanted}"
            f"{here()}: take its real part first (x.real), or use complex(x)."
        )
    return value_of(x).item()


def _float(self: ArrayImpl) -> float:
    return float(_real(self, "float"))


def _int(self: ArrayImpl) -> int:
    return int(_real(self, "int"))


def _complex(self: ArrayImpl) -> complex:
    if self.aval.shape != ():
        raise _not_scalar(self, "complex")
    return complex(value_of(self).item())


def _index(self: ArrayImpl) -> int:
    value: Any = value_of(self).item() if self.aval.shape == () else None
    if value.__class__ is not int:
        raise TypeError(
            f"an array of type {spelled(self)} is used as a Python integer{called()}: only an "
            "integer array without dimensions can be. Convert it (int(x)) or pick an element."
        )
    return value


def _bool(self: ArrayImpl) -> bool:
    size = self.aval.size
    if size != 1:
        kind = "has several elements, each true or false" if size else "has no element"
        raise ValueError(
            f"an array of type {spelled(self)} is used as a Python condition{here()}, but "
            f"it {kind}. Write x.any(), x.all() or x.size > 0."
        )
    return bool(value_of(self).item())


def _item(self: ArrayImpl, *args: Any) -> Any:
    """An element as a Python scalar: the only one, or the one at an index as NumPy's ``item``."""
    if not args and self.aval.size != 1:
        raise ValueError(
            f"item() of an array of type {spelled(self)}{here()}: without an index it needs "
            "an array of one element. Give the index (x.item(0)), or use x.tolist()."
        )
    try:
        return value_of(self).item(*args)
    except (IndexError, TypeError, ValueError, OverflowError) as e:
        raise type(e)(f"item of an array of type {spelled(self)}{here()}: {e}") from None


def _tolist(self: ArrayImpl) -> Any:
    """The value as Python scalars in nested lists (a scalar for an array without dimensions)."""
    return value_of(self).tolist()


def _tobytes(self: ArrayImpl, order: str = "C") -> bytes:
    """The elements' bytes, in C or Fortran order."""
    return value_of(self).tobytes(order)  # type: ignore[arg-type]


def _copy_to_host_async(self: ArrayImpl) -> None:
    """Start the transfer to host memory that a later ``numpy.asarray`` will need."""
    check_usable((self,))
    arrays.copy_to_host_async(self)


for _name, _method in {
    "__array__": _array,
    "__float__": _float,
    "__int__": _int,
    "__complex__": _complex,
    "__index__": _index,
    "__bool__": _bool,
    "item": _item,
    "tolist": _tolist,
    "tobytes": _tobytes,
    "copy_to_host_async": _copy_to_host_async,
}.items():
    install(_name, _method)
install("__array_priority__", 100)  # NumPy arrays leave binary operators to this type


_NAME = "Array("


def _repr(self: ArrayImpl) -> str:
    aval = self.aval
    tail = [f"dtype={aval.dtype.name}"]
    if aval.weak_type:
        tail.append("weak_type=True")
    hidden = _hidden(self)
    if hidden:
        return f"{_NAME}{hidden}, shape={aval.shape}, {', '.join(tail)})"
    body = np.array2string(value_of(self), separator=", ", prefix=_NAME)
    if aval.size == 0:
        tail.insert(0, f"shape={aval.shape}")
    # The tail goes on a line of its own where the value's last line is too long for it.
    text = f"{body}, {', '.join(tail)})"
    last = len(text) - (body.rfind("\n") + 1) + (0 if "\n" in body else len(_NAME))
    if last > np.get_printoptions()["linewidth"]:
        text = f"{body},\n{' ' * len(_NAME)}{', '.join(tail)})"
    return _NAME + text


def _hidden(x: ArrayImpl) -> str:
    """The text shown instead of a value that cannot be read, since ``repr`` should not raise."""
    if x.is_deleted():
        if "_lost" in x.__dict__:
            return "<not computed before the fork>"
        return "<deleted>" if "_deleted_at" in x.__dict__ else "<donated>"
    if x.aval.divided is not None and x._sharding.spec.unreduced:
        return "<summands>"
    devices = x._sharding._internal_device_list
    if devices.is_fully_addressable or (x._arrays and x._sharding.is_fully_replicated):
        return ""
    return "<on other processes' devices>"


def _str(self: ArrayImpl) -> str:
    hidden = _hidden(self)
    return f"{_NAME}{hidden})" if hidden else str(value_of(self))


def _format(self: ArrayImpl, spec: str) -> str:
    if not spec:
        return format(value_of(self)[()]) if self.aval.shape == () else str(self)
    if self.aval.shape != ():
        raise TypeError(
            f"the format {spec!r} is for numbers, and this is an array of type {spelled(self)}: "
            "format its elements (x[i]), or set how arrays print (numpy.set_printoptions)."
        )
    value: Any = value_of(self).item()
    return format(value, spec)


install("__repr__", _repr)
install("__str__", _str)
install("__format__", _format)
