"""Python functions called from inside of programs: pure ones, and ones with effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .functions import (
        io_callback as io_callback,
        pure_callback as pure_callback,
    )
    from .primitives import (
        debug_callback_p as debug_callback_p,
        io_callback_p as io_callback_p,
        pure_callback_p as pure_callback_p,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "debug_callback_p": "primitives",
    "io_callback": "functions",
    "io_callback_p": "primitives",
    "pure_callback": "functions",
    "pure_callback_p": "primitives",
}
__all__ = [
    "debug_callback_p",
    "io_callback",
    "io_callback_p",
    "pure_callback",
    "pure_callback_p",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
