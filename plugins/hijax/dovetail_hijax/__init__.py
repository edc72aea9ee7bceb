"""High types and primitives: values made of arrays that transformations see whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    pass

# Written by tools/make_lazy.py from the imports above.
_WHERE: dict[str, str] = {}
__all__: list[str] = []

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
