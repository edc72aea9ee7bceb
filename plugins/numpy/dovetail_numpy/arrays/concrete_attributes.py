"""Attributes that only concrete arrays have, such as their devices: errors of tracers."""

from __future__ import annotations

from typing import Any, NoReturn

from dovetail_core import ShapedArray, Tracer, value_methods

METHODS = (
    "addressable_data delete devices is_deleted on_device_size_in_bytes unsafe_buffer_pointer "
    "__dlpack__"
).split()
PROPERTIES = (
    "addressable_shards committed global_shards is_fully_addressable is_fully_replicated traceback"
).split()


class ConcreteOnlyAttribute:
    """An attribute that traced arrays cannot have; values of other types have their own.

    Reading a method, as ``hasattr`` does, succeeds; calling it raises the error.
    """

    def __init__(self, name: str, is_method: bool) -> None:
        self.name = name
        self.is_method = is_method

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if not isinstance(instance.aval, ShapedArray):
            return value_methods.own_attribute(instance, self.name)
        if not self.is_method:
            self._refuse(instance)

        def method(*args: Any, **kwargs: Any) -> NoReturn:
            self._refuse(instance)

        return method

    def _refuse(self, tracer: Tracer[Any]) -> NoReturn:
        use = f"asked for its {self.name!r}"
        value_methods.refuse_tracer(tracer, use)


def install_concrete_attributes() -> None:
    """Give tracers these attributes."""
    for name in [*METHODS, *PROPERTIES]:
        setattr(Tracer, name, ConcreteOnlyAttribute(name, name in METHODS))
