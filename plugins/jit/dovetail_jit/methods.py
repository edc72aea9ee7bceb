"""What other plugins add to compiled functions: methods, the members of ``jit.methods``.

A member is a function ``member(trace, *args, **kwargs)`` of a function's ``trace`` and of what its
method is called with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.caches import ByIdentity
from dovetail_core import registry

COLLECTION = "jit.methods"
_names: ByIdentity[tuple[str, ...]] = ByIdentity()


def added_methods() -> tuple[str, ...]:
    """The names of the methods, which are imported when they are called."""
    found = registry()
    return _names.of(found, lambda: tuple(found.members(COLLECTION)))


def call_method(name: str, trace: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the method ``name`` of the function that ``trace`` traces."""
    return registry().member(COLLECTION, name, _fits)(trace, *args, **kwargs)


def _fits(thing: Any) -> str:
    return "" if callable(thing) else f"it is a {type(thing).__name__}, not a function"
