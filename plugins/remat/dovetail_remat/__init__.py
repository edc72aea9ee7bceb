"""Rematerialisation: computing intermediate values again instead of keeping them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from . import (
        policies as checkpoint_policies,
    )
    from .api import (
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        remat as remat,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "checkpoint": "api",
    "checkpoint_name": "api",
    "checkpoint_policies": ":policies",
    "remat": "api",
}
__all__ = [
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "remat",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
