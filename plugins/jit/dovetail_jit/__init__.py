"""Compilation: ``jit`` and its stages, eager dispatch, caches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import jit as jit
    from .eager import fused as fused
    from .effects import effects_barrier as effects_barrier
    from .inspection import (
        clear_caches as clear_caches,
        disable_jit as disable_jit,
        ensure_compile_time_eval as ensure_compile_time_eval,
        eval_shape as eval_shape,
        make_jaxpr as make_jaxpr,
    )
    from .primitive import jit_p as jit_p
    from .stages import (
        Compiled as Compiled,
        Lowered as Lowered,
        ShapeDtypeStruct as ShapeDtypeStruct,
        Traced as Traced,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "ShapeDtypeStruct",
    "clear_caches",
    "disable_jit",
    "effects_barrier",
    "ensure_compile_time_eval",
    "eval_shape",
    "jit",
    "make_jaxpr",
]
