"""The option that forbids sums whose partial sums have 16 bits."""

from __future__ import annotations

from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config, here, typeof

allow_f16_reductions = config.add(
    Option(
        "allow_f16_reductions",
        True,
        "Whether 16-bit floating-point numbers may be summed as they are; numpy.sum, mean and the "
        "like convert to float32 first.",
        check=as_bool,
        traced=True,
    )
)
_state = allow_f16_reductions.state


def check_sum(x: Any) -> None:
    """Refuse an operand of a sum whose elements are 16-bit floats, where the option says so.

    Raises:
        ValueError: they are.
    """
    if _state.value:
        return
    aval: Any = typeof(x)
    if aval.dtype.name in ("float16", "bfloat16"):
        raise ValueError(
            f"a sum of {aval.str_short()}{here()}: its partial sums would have 16 bits, which "
            "the option allow_f16_reductions=False forbids. Convert to float32 first, or use "
            "numpy.sum, which does."
        )
