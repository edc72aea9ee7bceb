"""``import dovetail.dlpack``: the names of dovetail_backends.dlpack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_backends.dlpack import (
        from_dlpack as from_dlpack,
        is_supported_dtype as is_supported_dtype,
    )

_WHERE = {
    "from_dlpack": ("backends", "dovetail_backends.dlpack:from_dlpack"),
    "is_supported_dtype": ("backends", "dovetail_backends.dlpack:is_supported_dtype"),
}
__all__ = [
    "from_dlpack",
    "is_supported_dtype",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
