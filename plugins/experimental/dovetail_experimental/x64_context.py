"""64-bit types within a ``with`` statement."""

from __future__ import annotations

from contextlib import AbstractContextManager

from dovetail_core import enable_x64 as _option

__all__ = ["disable_x64", "enable_x64"]


def enable_x64(new_val: bool = True) -> AbstractContextManager[None]:
    """Context manager: 64-bit types are on inside of it, in this thread (off for False)."""
    return _option(new_val)


def disable_x64() -> AbstractContextManager[None]:
    """Context manager: 64-bit types are off inside of it, in this thread."""
    return _option(False)
