"""Rules of ``ad.jvp``: the operation is linear, so that its tangent is shifted as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import registry

from ..shift import shift_p


@registry().table("ad.jvp").register(shift_p)
def _shift_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: int) -> tuple[Any, Any]:
    return shift_p.bind(*primals, **params), shift_p.bind(*tangents, **params)
