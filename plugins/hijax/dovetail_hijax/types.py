"""What high types may have: attributes of traced values, and places for the arrays of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core.interpret.carrier import missing


class aval_method:  # lower case: used as a decorator
    """A function on a type's class that traced values of the type have as a method.

    Operators are looked up with one underscore: ``_add`` for ``x + y``, ``_getitem`` for ``x[i]``.
    ``class T(HiType): double = aval_method(lambda x: ...)`` makes ``x.double()`` work for tracers.
    """

    of_tracers = True

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun

    def __get__(self, tracer: Any, owner: type | None = None) -> Any:
        return self if tracer is None else self.fun.__get__(tracer)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)


class aval_property:  # lower case: used as a decorator
    """A function on a type's class whose value traced values of the type have as an attribute."""

    of_tracers = True

    def __init__(self, fget: Callable[[Any], Any]) -> None:
        self.fget = fget

    def __get__(self, tracer: Any, owner: type | None = None) -> Any:
        return self if tracer is None else self.fget(tracer)


class HiPspec:
    """Says where the arrays of a high value are. Subclass it; instances are hashable.

    Given to ``jit`` as ``in_shardings`` or ``out_shardings``, it places the value's arrays.
    """

    def to_lo(self) -> tuple[Any, ...]:
        """A sharding (or device) for each array of the value."""
        missing(self, "to_lo(self)", "to place the arrays of a high value")

    def to_tangent_spec(self) -> HiPspec:
        """The specification of tangents; by default the same."""
        return self

    def to_ct_spec(self) -> HiPspec:
        """The specification of cotangents; by default that of tangents."""
        return self.to_tangent_spec()

    @property
    def device_set(self) -> set[Any]:
        """The devices that hold part of the value."""
        return {d for s in self.to_lo() for d in getattr(s, "device_set", {s})}
