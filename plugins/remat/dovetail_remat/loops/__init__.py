"""Reverse mode of loops with a bounded number of kept states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .schemes import (
        Binomial as Binomial,
        Cut as Cut,
        Numbers as Numbers,
        Online as Online,
        Periodic as Periodic,
        Scheme as Scheme,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Binomial": "schemes",
    "Cut": "schemes",
    "Numbers": "schemes",
    "Online": "schemes",
    "Periodic": "schemes",
    "Scheme": "schemes",
}
__all__ = [
    "Binomial",
    "Cut",
    "Numbers",
    "Online",
    "Periodic",
    "Scheme",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
