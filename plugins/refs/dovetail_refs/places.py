"""The user's line, for messages."""

from __future__ import annotations

from dovetail_core import current_source, describe_source


def here() -> str:
    """`` at FILE:LINE (FUNCTION)``: the user's line that is running."""
    return describe_source(current_source())
