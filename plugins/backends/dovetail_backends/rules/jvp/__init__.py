"""How placement is differentiated forwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core.xla.arrays import ArrayImpl

from ...placement import device_put_p


@jvp_rules.register(device_put_p)
def _device_put_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    src = params["src"]
    if src is None and x.__class__ is ArrayImpl:
        src = x._sharding  # where the cotangent will be wanted
    moved = {**params, "src": src, "donate": False}
    return device_put_p.bind(x, **params), device_put_p.bind(dx, **moved)
