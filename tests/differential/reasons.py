"""Differences from the peer that are meant, and why."""

from __future__ import annotations

import re
from typing import NamedTuple


class Reason(NamedTuple):
    """For texts, variants, kinds (value, gradient) and told differences that match."""

    why: str
    text: str = ""
    variant: str = ""
    what: str = ""
    told: str = ""


REASONS: tuple[Reason, ...] = ()


def reason(text: str, variant: str, what: str, told: str) -> str:
    """Why an answer differs; an empty string where that is not decided."""
    for r in REASONS:
        pairs = ((r.text, text), (r.variant, variant), (r.what, what), (r.told, told))
        if all(re.search(pattern, x) for pattern, x in pairs):
            return r.why
    return ""
