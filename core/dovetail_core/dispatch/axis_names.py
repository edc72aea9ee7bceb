"""Named axes that are in scope: which names exist, and how long their axes are."""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

from dovetail_base.scopes import Scope
from dovetail_base.source import called
from dovetail_mesh.varying import (
    outer_values_vary as outer_values_vary,
    outer_varying_axes as outer_varying_axes,
    varying_key,
)
from dovetail_xla.config import trace_context

__all__ = (
    "axes_key",
    "axis_env",
    "axis_size_of",
    "bound_axis",
    "describe_axes_key",
    "manual_axes",
    "outer_values_vary",
    "outer_varying_axes",
    "trace_key",
)

_none: dict[Hashable, int] = {}
_sizes: ContextVar[dict[Hashable, int]] = ContextVar("dovetail_axes", default=_none)
_unmapped: dict[Hashable, bool] = {}
_manual: ContextVar[dict[Hashable, bool]] = ContextVar("dovetail_manual_axes", default=_unmapped)
_Both = tuple[dict[Hashable, int], dict[Hashable, bool]]


class bound_axis(Scope):  # lower case: used as a function
    """Context manager in which a mapped axis's name is in scope.

    Args:
        manual: True for an axis of a mesh along which each device runs the program on its part;
            types then show which values vary (``ShapedArray.vma``).
        checked: True if types show which values vary along it; if not, sums along it vary, too.
    """

    __slots__ = ("name", "size", "manual", "checked")

    def __init__(
        self, name: Hashable, size: int, manual: bool = False, checked: bool = True
    ) -> None:
        super().__init__()
        self.name = name
        self.size = size
        self.manual = manual
        self.checked = checked

    def _read(self) -> _Both:
        return _sizes.get(), _manual.get()

    def _enter(self, outer: _Both) -> None:
        if self.name is None:
            return
        sizes, manual = outer
        _sizes.set({**sizes, self.name: self.size})
        if self.manual:
            _manual.set({**manual, self.name: self.checked})
        elif self.name in manual:
            _manual.set({n: c for n, c in manual.items() if n != self.name})

    def _leave(self, outer: _Both) -> None:
        _sizes.set(outer[0])
        _manual.set(outer[1])


def axis_env() -> tuple[tuple[Hashable, int], ...]:
    """The names in scope with their sizes."""
    return tuple(_sizes.get().items())


def axes_key() -> tuple[Any, ...]:
    """The part of a program's key that depends on the names in scope; empty without names."""
    if not _sizes.get():
        return ()
    return axis_env(), tuple(_manual.get().items()), varying_key()


def trace_key() -> tuple[Any, ...]:
    """The options and user contexts that are set and the names in scope: all that a trace depends
    on beside its function and the types of its arguments. It is part of the key of every cache
    whose entries depend on what a trace reads: ``cached(context=trace_key)``."""
    return trace_context(), axes_key()


def describe_axes_key(key: tuple[Any, ...]) -> str:
    """A result of :func:`axes_key` in words: ``'i' of size 3, 'x' of size 2 (of a mesh)``."""
    if not key:
        return "none"
    manual = dict(key[1])
    return ", ".join(_axis_text(name, size, manual.get(name)) for name, size in key[0])


def _axis_text(name: Hashable, size: int, checked: bool | None) -> str:
    kind = "" if checked is None else " (of a mesh)" if checked else " (of a mesh, unchecked)"
    return f"{name!r} of size {size}{kind}"


def manual_axes() -> dict[Hashable, bool]:
    """The names in scope that are axes of a mesh; True for those that are ``checked``."""
    return _manual.get()


def axis_size_of(name: Hashable) -> int:
    """The length of the axis ``name``.

    Raises:
        NameError: no such axis is in scope; lists those that are.
    """
    sizes = _sizes.get()
    if not isinstance(name, Hashable) or name not in sizes:  # pyright: ignore
        known = ", ".join(map(repr, sizes)) or "none"
        raise NameError(
            f"axis name {name!r} is not bound here (in scope: {known}){called()}. Call the "
            f"function under vmap(..., axis_name={name!r})."
        )
    return sizes[name]
