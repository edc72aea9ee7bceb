"""Batching: ``vmap``, and collectives over mapped axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .api import (
        vmap as vmap,
    )
    from .tables import (
        BatchRule as BatchRule,
        batch_rules as batch_rules,
    )
    from .trace import (
        Axis as Axis,
        batch_values as batch_values,
        carrier_of as carrier_of,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Axis": "trace",
    "BatchRule": "tables",
    "batch_rules": "tables",
    "batch_values": "trace",
    "carrier_of": "trace",
    "vmap": "api",
}
__all__ = [
    "vmap",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
