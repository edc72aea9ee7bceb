"""Wrong inputs on which Dovetail and JAX differ, each decision with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from .mutation import Wrong


class Decision(NamedTuple):
    """Inputs whose texts match are accepted here alone, or refused here alone, for a reason."""

    accepted: bool
    text: str
    reason: str


DECISIONS: tuple[Decision, ...] = ()


def decided(wrong: Wrong, accepted: bool) -> bool:
    """Whether a difference has been decided."""
    return any(d.accepted == accepted and re.search(d.text, wrong.text) for d in DECISIONS)
