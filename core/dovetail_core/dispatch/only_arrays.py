"""Attributes that only concrete arrays have, such as their devices: errors of tracers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dovetail_base import errors

from ..types.avals import ShapedArray
from .tracer import Tracer, place_remedy

METHODS = (
    "addressable_data delete devices is_deleted on_device_size_in_bytes unsafe_buffer_pointer "
    "__dlpack__"
).split()
PROPERTIES = (
    "addressable_shards committed global_shards is_fully_addressable is_fully_replicated traceback"
).split()


class OfArrays:
    """An attribute that traced arrays cannot have; values of other types have their own.

    Reading a method, as ``hasattr`` does, succeeds; calling it raises the error.
    """

    def __init__(self, name: str, is_method: bool, of_others: Callable[[Any, str], Any]) -> None:
        self.name = name
        self.is_method = is_method
        self.of_others = of_others

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if not isinstance(instance.aval, ShapedArray):
            return self.of_others(instance, self.name)
        if not self.is_method:
            self._refuse(instance)

        def method(*args: Any, **kwargs: Any) -> NoReturn:
            self._refuse(instance)

        return method

    def _refuse(self, tracer: Tracer[Any]) -> NoReturn:
        use = f"asked for its {self.name!r}"
        tracer._fail(use, place_remedy, errors.ConcretizationTypeError)  # pyright: ignore[reportPrivateUsage]


def install(of_others: Callable[[Any, str], Any]) -> None:
    """Give tracers these attributes; ``of_others`` finds those of values that are no arrays."""
    for name in [*METHODS, *PROPERTIES]:
        setattr(Tracer, name, OfArrays(name, name in METHODS, of_others))
