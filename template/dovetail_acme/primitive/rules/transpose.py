"""Rules of ``ad.transpose``: what comes in from behind goes out in front."""

from __future__ import annotations

from typing import Any

from dovetail_core import registry

from ..shift import shift_p


@registry().table("ad.transpose").register(shift_p)
def _shift_transpose(cotangent: Any, x: Any, *, by: int, axis: int) -> list[Any]:
    return [shift_p.bind(cotangent, by=-by, axis=axis)]
