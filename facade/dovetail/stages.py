"""``import dovetail.stages``: the names of dovetail_jit.stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_jit.stages import (
        ArgInfo as ArgInfo,
        Compiled as Compiled,
        CompilerOptions as CompilerOptions,
        Lowered as Lowered,
        Traced as Traced,
        Wrapped as Wrapped,
    )

_WHERE = {
    "ArgInfo": ("jit", "dovetail_jit.stages:ArgInfo"),
    "Compiled": ("jit", "dovetail_jit.stages:Compiled"),
    "CompilerOptions": ("jit", "dovetail_jit.stages:CompilerOptions"),
    "Lowered": ("jit", "dovetail_jit.stages:Lowered"),
    "Traced": ("jit", "dovetail_jit.stages:Traced"),
    "Wrapped": ("jit", "dovetail_jit.stages:Wrapped"),
}
__all__ = [
    "ArgInfo",
    "Compiled",
    "CompilerOptions",
    "Lowered",
    "Traced",
    "Wrapped",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
