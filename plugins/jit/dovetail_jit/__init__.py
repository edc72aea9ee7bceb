"""Compilation: ``jit`` and its stages, eager dispatch, caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .api import (
        jit as jit,
    )
    from .eager import (
        fused as fused,
    )
    from .effects import (
        effects_barrier as effects_barrier,
    )
    from .inspection import (
        clear_caches as clear_caches,
        disable_jit as disable_jit,
        ensure_compile_time_eval as ensure_compile_time_eval,
        eval_shape as eval_shape,
        make_jaxpr as make_jaxpr,
    )
    from .primitive import (
        jit_p as jit_p,
    )
    from .stages import (
        Compiled as Compiled,
        Lowered as Lowered,
        Traced as Traced,
    )
    from .structs import ShapeDtypeStruct as ShapeDtypeStruct

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Compiled": "stages",
    "Lowered": "stages",
    "ShapeDtypeStruct": "structs",
    "Traced": "stages",
    "clear_caches": "inspection",
    "disable_jit": "inspection",
    "effects_barrier": "effects",
    "ensure_compile_time_eval": "inspection",
    "eval_shape": "inspection",
    "fused": "eager",
    "jit": "api",
    "jit_p": "primitive",
    "make_jaxpr": "inspection",
}
__all__ = [
    "ShapeDtypeStruct",
    "clear_caches",
    "disable_jit",
    "ensure_compile_time_eval",
    "eval_shape",
    "jit",
    "make_jaxpr",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
