"""How placement is differentiated forwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...placement import device_put_p


@jvp_rules.register(device_put_p)
def _device_put_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    return device_put_p.bind(*primals, **params), device_put_p.bind(*tangents, **params)
