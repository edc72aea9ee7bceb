"""``import dovetail.debug``: the names of dovetail_callbacks.debug."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_callbacks.debug import callback as callback, print as print

_WHERE = {
    "callback": ("callbacks", "dovetail_callbacks.debug:callback"),
    "print": ("callbacks", "dovetail_callbacks.debug:print"),
}
__all__ = [
    "callback",
    "print",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
