"""How placement is differentiated backwards: cotangents go back to where the value came from."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules

from ...placement import device_put_p


@transpose_rules.register(device_put_p)
def _device_put_transpose(
    cotangent: Any, x: Any, *, device: Any, src: Any, donate: bool, may_alias: bool | None
) -> list[Any]:
    # What is donated forwards is the primal's memory: the cotangent's is another's to give away.
    back = device_put_p.bind(cotangent, device=src, src=device, donate=False, may_alias=may_alias)
    return [back]
