"""The regions of reductions: how two scalars of a kind are combined."""

from __future__ import annotations

from functools import cache
from typing import Any

from dovetail_backends.pjrt import element_type

from ...primitives.complex import real_part

_OPS = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "and": "and",
    "or": "or", "xor": "xor",
}  # fmt: skip


@cache
def combiner(kind: str, dtype: Any) -> str:
    """The region that combines two scalars of type ``dtype``.

    It is text that is the same wherever it occurs: its names occur nowhere else.
    """
    t = f"tensor<{element_type(dtype)}>"
    if dtype.kind == "c" and kind in ("max", "min"):
        body = _lexicographic("GT" if kind == "max" else "LT", t, element_type(real_part(dtype)))
    else:
        body = f'%red_z = "stablehlo.{_OPS[kind]}"(%red_x, %red_y) : ({t}, {t}) -> {t}\n'
    return (
        f'{{\n^bb0(%red_x: {t}, %red_y: {t}):\n{body}"stablehlo.return"(%red_z) : ({t}) -> ()\n}}'
    )


def _lexicographic(direction: str, t: str, element: str) -> str:
    """Selects by real parts and, where they are equal, by imaginary ones."""
    part = f"tensor<{element}>"
    lines = [
        f'%red_{p}{v} = "stablehlo.{op}"(%red_{v}) : ({t}) -> {part}'
        for p, op in (("r", "real"), ("i", "imag"))
        for v in "xy"
    ]
    for name, way, p in (("a", direction, "r"), ("b", "EQ", "r"), ("c", direction, "i")):
        lines.append(
            f'%red_{name} = "stablehlo.compare"(%red_{p}x, %red_{p}y) <{{comparison_direction = '
            f"#stablehlo<comparison_direction {way}>, compare_type = "
            f"#stablehlo<comparison_type FLOAT>}}> : ({part}, {part}) -> tensor<i1>"
        )
    bits = "(tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>"
    lines.append(f'%red_d = "stablehlo.select"(%red_b, %red_c, %red_a) : {bits}')
    lines.append(
        f'%red_z = "stablehlo.select"(%red_d, %red_x, %red_y) : (tensor<i1>, {t}, {t}) -> {t}'
    )
    return "\n".join(lines) + "\n"
