"""``Array`` for ``isinstance``, the attributes of arrays, and their types."""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

from dovetail_core import (
    PluginError,
    ShapedArray,
    Tracer,
    here,
    register_type,
    value_methods,
)
from dovetail_xla.arrays import (
    Array as _Array,
    ArrayImpl,
    install,
    install_class_attributes,
    install_tracer_class,
)

# Each of these modules installs methods when it is imported.
from . import copying as copying
from .shards import addressable_shards, global_shards
from .state import check_usable, spelled
from .values import value_of

if TYPE_CHECKING:
    from .protocol import Array as Array
else:
    Array = _Array
    Array.__doc__ = "An array on a device; also the type of traced arrays (isinstance)."


def type_of_array(x: Any) -> ShapedArray:
    """The type of an array, also of one that C++ made before it knew the kernel's types."""
    aval = x.aval
    if aval.__class__ is ShapedArray:
        return aval
    if aval is None:
        value = value_of(x)
        return ShapedArray(value.shape, value.dtype)
    return ShapedArray(aval.shape, aval.dtype, bool(aval.weak_type))


def _device(self: ArrayImpl) -> Any:
    """The device that the array is on, or its sharding where it is on several."""
    devices = self._sharding._internal_device_list
    return next(iter(devices)) if len(devices) == 1 else self._sharding


def _devices(self: ArrayImpl) -> set[Any]:
    """The devices that the array is on."""
    return set(self._sharding._internal_device_list)


def _part(self: ArrayImpl, index: int) -> Any:
    """The part of the array on the device number ``index`` among this process's."""
    check_usable((self,))
    return addressable_shards(self)[index].data


def _usable(attribute: Any) -> Any:
    def get(self: ArrayImpl) -> Any:
        check_usable((self,))
        return attribute(self)

    return get


def _immutable(self: ArrayImpl, index: Any, value: Any) -> NoReturn:
    raise TypeError(
        f"x[...] = value{here()} on an array of type {spelled(self)}: arrays do not change. "
        "Make a new one with x = x.at[...].set(value)."
    )


_WITHOUT_TYPE = frozenset({"shape", "dtype", "weak_type", "ndim", "size"})
_PROTOCOLS = frozenset({"__array_namespace__", "__array_module__"})


def _other_attribute(self: ArrayImpl, name: str) -> Any:
    """Array functions come with the plugin that provides them, at the first use of one."""
    if name in _WITHOUT_TYPE:  # their properties found no type to ask
        return getattr(type_of_array(self), name)
    if not name.startswith("_") or name in _PROTOCOLS:
        try:
            value_methods.load_methods()
        except PluginError as e:
            raise AttributeError(f"{_lacking(self, name)}: {e}") from None
        if hasattr(ArrayImpl, name):  # not getattr: a property that raises would come back here
            return object.__getattribute__(self, name)
    raise AttributeError(_lacking(self, name))


def _of_class(cls: type, name: str) -> Any:
    """Array functions as attributes of the class, which libraries wrap and list."""
    if not name.startswith("_") or name in _PROTOCOLS:
        with suppress(PluginError):
            value_methods.load_methods()
        return type.__getattribute__(cls, name)
    raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


def _names(x: Any) -> list[str]:
    with suppress(PluginError):
        value_methods.load_methods()
    return list((type if isinstance(x, type) else object).__dir__(x))


def _lacking(x: ArrayImpl, name: str) -> str:
    return f"an array of type {spelled(x)} has no attribute {name!r}"


_ATTRIBUTES: dict[str, Any] = {
    **{n: property(attrgetter(f"aval.{n}")) for n in sorted(_WITHOUT_TYPE)},
    "itemsize": property(attrgetter("aval.dtype.itemsize")),
    "nbytes": property(lambda self: self.aval.size * self.aval.dtype.itemsize),
    "sharding": property(attrgetter("_sharding")),
    "committed": property(attrgetter("_committed")),
    "device": property(_device),
    "devices": _devices,
    "is_fully_addressable": property(lambda self: self._sharding.is_fully_addressable),
    "is_fully_replicated": property(lambda self: self._sharding.is_fully_replicated),
    "addressable_shards": property(_usable(addressable_shards)),
    "global_shards": property(_usable(global_shards)),
    "addressable_data": _part,
    "__hash__": None,  # so that it is no collections.abc.Hashable
    "__setitem__": _immutable,
    "__getattr__": _other_attribute,
    "__dir__": _names,
}

if "__add__" not in vars(ArrayImpl):  # else the provider of array methods was here first
    value_methods.install_loading(ArrayImpl)
    value_methods.install_loading(_Array)
for _name, _attribute in _ATTRIBUTES.items():
    install(_name, _attribute)
    if _name not in ("__getattr__", "__dir__"):  # of values, which have a class of their own
        setattr(_Array, _name, _attribute)
install_class_attributes(_of_class, _names)
install_tracer_class(Tracer)
register_type(ArrayImpl, type_of_array)
