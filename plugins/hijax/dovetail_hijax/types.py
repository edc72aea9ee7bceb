"""Base classes of mutable high types and of placements, and attributes of traced high values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dovetail_core import (
    AbstractValue,
    MissingMethod,
)

from .states import cur_qdd


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
    """The placement of the arrays of a high value. Subclass it; instances are hashable.

    Given to ``jit`` as ``in_shardings`` or ``out_shardings``, it determines the placement of the
    value's arrays.
    """

    def to_lo(self) -> tuple[Any, ...]:
        """A sharding (or device) for each array of the value."""
        raise MissingMethod.of(self, "to_lo(self)", "to place the arrays of a high value")

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


class MutableHiType(AbstractValue):
    """A type of mutable values whose contents, and their types, operations change. Subclass it.

    Either the type has the contents (``content_types``, ``take``, ``put``), and operations on such
    values are primitives with ``stateful=True`` and a rule in the table ``refs.discharge``. Or
    contents follow from a *state*, ``value.cur_qdd()`` of a value (``lo_ty_qdd``,
    ``new_from_loval``, ``read_loval``, ``update_from_loval``): then operations are subclasses of
    ``HiPrimitive``, whose ``to_lo`` reads and changes a value of the user's class.
    """

    __slots__ = ()
    is_mutable: ClassVar[bool] = True
    has_mutable_type: ClassVar[bool] = True
    owns_contents: ClassVar[bool] = False
    has_qdd: bool = False
    """True if values have a state."""
    type_state = aval_method(cur_qdd)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "lo_ty_qdd" in cls.__dict__:  # without its state a type has no contents
            cls.is_mutable, cls.has_mutable_type, cls.is_high = False, False, True
            if "has_qdd" not in cls.__dict__:
                cls.has_qdd = True

    def content_types(self) -> tuple[AbstractValue, ...]:
        raise MissingMethod.of(self, "content_types(self)", "to know the contents of a value")

    def take(self, value: Any) -> Sequence[Any]:
        raise MissingMethod.of(self, "take(self, value)", "to pass contents to a compiled program")

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        raise MissingMethod.of(
            self, "put(self, value, contents)", "to update contents after a compiled program"
        )

    def new_from_loval(self, state: Any, /, *contents: Any) -> Any:
        """A value in ``state`` with these arrays as contents."""
        raise MissingMethod.of(
            self, "new_from_loval(self, state, *contents)", "to trace operations on a value"
        )

    def read_loval(self, state: Any, value: Any, /) -> Sequence[Any]:
        """The contents of a value in ``state``, arrays."""
        raise MissingMethod.of(
            self, "read_loval(self, state, value)", "to pass contents to a program"
        )

    def update_from_loval(self, state: Any, value: Any, /, *contents: Any) -> None:
        """Set the state and the contents of a value."""
        raise MissingMethod.of(
            self, "update_from_loval(self, state, value, *contents)", "to update contents"
        )
