"""Names that stand for several platforms."""

from __future__ import annotations

FAMILIES = {"gpu": ("cuda", "rocm")}
