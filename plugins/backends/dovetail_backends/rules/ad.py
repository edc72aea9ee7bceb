"""How placement is differentiated, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules, transpose_rules
from dovetail_core.xla.arrays import ArrayImpl

from ..placement import device_put_p


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


@transpose_rules.register(device_put_p)
def _device_put_transpose(
    cotangent: Any, x: Any, *, device: Any, src: Any, donate: bool, may_alias: bool | None
) -> list[Any]:
    # What is donated forwards is the primal's memory: the cotangent's is another's to give away.
    back = device_put_p.bind(cotangent, device=src, src=device, donate=False, may_alias=may_alias)
    return [back]
