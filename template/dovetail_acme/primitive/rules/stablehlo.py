"""Rules of ``backends.stablehlo``: padding, negative on the side where elements are lost."""

from __future__ import annotations

from typing import Any

from dovetail_core import registry

from ..shift import shift_p


@registry().table("backends.stablehlo").register(shift_p)
def _shift_stablehlo(b: Any, x: Any, *, by: int, axis: int) -> Any:
    def per_axis(name: str, n: int) -> str:
        counts = [n if i == axis else 0 for i in range(x.aval.ndim)]
        return f"{name} = array<i64: {', '.join(map(str, counts))}>"

    attributes = [
        per_axis("edge_padding_low", by),
        per_axis("edge_padding_high", -by),
        per_axis("interior_padding", 0),
    ]
    zero = b.constant(0, x.aval.update(shape=()))
    return b.op("stablehlo.pad", [x, zero], b.out, ", ".join(attributes))
