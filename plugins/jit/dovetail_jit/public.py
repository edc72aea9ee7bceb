"""The names that ``dovetail`` itself has of the plugin ``jit``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import jit as jit
    from .call.effects import effects_barrier as effects_barrier
    from .compile_time_eval import ensure_compile_time_eval as ensure_compile_time_eval
    from .inspection import (
        clear_caches as clear_caches,
        disable_jit as disable_jit,
        eval_shape as eval_shape,
        make_jaxpr as make_jaxpr,
    )
    from .options import no_execution as no_execution, no_tracing as no_tracing
    from .structs import ShapeDtypeStruct as ShapeDtypeStruct
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
