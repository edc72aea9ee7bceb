"""``import dovetail.custom_batching``: the names of dovetail_custom_rules.custom_batching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_custom_rules.custom_batching import (
        custom_vmap as custom_vmap,
        sequential_vmap as sequential_vmap,
    )

_WHERE = {
    "custom_vmap": ("custom_rules", "dovetail_custom_rules.custom_batching:custom_vmap"),
    "sequential_vmap": ("custom_rules", "dovetail_custom_rules.custom_batching:sequential_vmap"),
}
__all__ = [
    "custom_vmap",
    "sequential_vmap",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
