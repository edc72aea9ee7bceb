"""``import dovetail.experimental``: the names of dovetail_callbacks.experimental."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_callbacks.experimental import io_callback as io_callback

_WHERE = {
    "io_callback": ("callbacks", "dovetail_callbacks.experimental:io_callback"),
}
__all__ = [
    "io_callback",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
