"""Names of ``dovetail.experimental``, for existing programs."""

from __future__ import annotations

from .functions import io_callback as io_callback

__all__ = ["io_callback"]
