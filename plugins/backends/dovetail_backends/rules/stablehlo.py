"""Placement inside a compiled program: where its parts are, if it runs on several devices."""

from __future__ import annotations

from typing import Any

from ..constraints import sharding_constraint_p
from ..placement import device_put_p
from ..tables import stablehlo_rules
from ..transfer import sharding_for


@stablehlo_rules.register(device_put_p)
def _device_put_stablehlo(b: Any, x: Any, *, device: Any, **params: Any) -> Any:
    sharding = sharding_for(device)
    if sharding is not None:
        target = next(iter(sharding._internal_device_list))
        if target.client.platform != b.platform:
            raise ValueError(
                f"device_put to {target} inside a function that is compiled for {b.platform}: a "
                "compiled program runs on one platform. Move the value before the call, or its "
                "result after it."
            )
    return x if sharding is None else b.constrain(x, sharding)


@stablehlo_rules.register(sharding_constraint_p)
def _sharding_constraint_stablehlo(b: Any, x: Any, *, sharding: Any) -> Any:
    return b.constrain(x, sharding)
