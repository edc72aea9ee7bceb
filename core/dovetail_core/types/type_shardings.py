"""Divisions of arrays along axes of a mesh in their types: the provider ``type_sharding``.

``ShapedArray.divided`` is None if a type has no division, and that is all that it costs programs
without such axes. Other values are made by the provider: shardings without devices, one object for
all equal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Protocol

from dovetail_base.errors import ShardingTypeError

from ..registry.discovery import registry

__all__ = (
    "TypeShardings",
    "is_ambiguous",
    "like_type",
    "sharding_provider",
    "sharding_provider_or_none",
    "unreduced_axes",
    "with_out_sharding",
    "without_shardings",
)


class TypeShardings(Protocol):
    """The protocol of the provider, a plugin that has meshes. Dimensions are counted from 0."""

    def default_sharding(self, ndim: int) -> Any:
        """The sharding of arrays whose type has no division."""
        ...

    def as_sharding(self, divided: Any) -> Any:
        """A type's division as a sharding for users."""
        ...

    def division_of(self, sharding: Any, shape: tuple[int, ...]) -> Any:
        """The division that types of arrays with this sharding have, or None."""
        ...

    def text(self, divided: Any, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
        """The text of a type's division: its dimensions, and the words after them."""
        ...

    def parse(self, dims: Sequence[str], roles: Mapping[str, str]) -> Any:
        """The division whose :meth:`text` that is: dimensions, and the words after them.

        Raises:
            ValueError: no mesh has these axes.
        """
        ...

    def infer(
        self, primitive: Any, avals: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
    ) -> Sequence[Any]:
        """The types ``results`` of an operation with their divisions."""
        ...

    def with_dimension(self, divided: Any, at: int, name: Any) -> Any:
        """A division with a further dimension, which is divided along the axis ``name`` unless that
        is None.

        ``divided`` may be None, for ``at`` dimensions or more, if a name is given."""
        ...

    def without_dimension(self, divided: Any, at: int) -> Any:
        """A division without one of its dimensions."""
        ...

    def cotangent(self, divided: Any) -> Any:
        """The division of cotangents of values with this division."""
        ...

    def with_division(self, x: Any, divided: Any) -> Any:
        """``x``, traced or concrete, with this division (None: without any in its type)."""
        ...

    def leaving_unreduced(
        self, axes: Set[Any], f: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """``f(*args, **kwargs)`` in which sums over devices along ``axes`` stay unreduced.

        Raises:
            ShardingTypeError: the division of a result is ambiguous for another reason.
        """
        ...

    def without_division(self, x: Any) -> Any:
        """``x``, traced or concrete, without a division in its type: the compiler chooses one."""
        ...

    def result(
        self, sharding: Any, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """See :func:`with_out_sharding`."""
        ...


def sharding_provider() -> TypeShardings:
    """The provider ``type_sharding``.

    Raises:
        PluginError: no installed plugin provides it.
    """
    return registry().provider("type_sharding")


def sharding_provider_or_none() -> TypeShardings | None:
    """The provider, or None if no installed plugin has meshes."""
    return registry().provider("type_sharding", default=None)


def like_type(x: Any, aval: Any, now: Any) -> Any:
    """``x``, of type ``now``, with the division of ``aval``; values of other types as they are."""
    wanted = aval.divided
    return x if now.divided is wanted else sharding_provider().with_division(x, wanted)


def is_ambiguous(error: Exception, values: Sequence[Any]) -> bool:
    """Return whether an error may be due to divisions in the types of ``values``: a rule that does
    not handle them may be tried without (see :func:`without_shardings`)."""
    if isinstance(error, ShardingTypeError):
        return True
    return isinstance(error, TypeError) and any(_divided(x) is not None for x in values)


def unreduced_axes(aval: Any) -> Set[Any]:
    """The axes along which values of a type are unreduced sums over devices."""
    divided = getattr(aval, "divided", None)
    return frozenset() if divided is None else divided.spec.unreduced


def without_shardings(values: Sequence[Any]) -> list[Any]:
    """The values without divisions in their types, so that no operation on them is ambiguous."""
    return [x if _divided(x) is None else sharding_provider().without_division(x) for x in values]


def _divided(x: Any) -> Any:
    return getattr(getattr(x, "aval", None), "divided", None)


def with_out_sharding(sharding: Any, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, divided by ``sharding``, for functions with an argument
    ``out_sharding``.

    Within ``f`` types have no divisions, so that nothing is ambiguous: the compiler chooses.

    Raises:
        PluginError: no installed plugin has meshes.
    """
    return sharding_provider().result(sharding, f, args, kwargs)
