"""Custom rules: functions whose authors say how transformations treat them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .closures import closure_convert as closure_convert, custom_gradient as custom_gradient
    from .decorators import (
        custom_dce as custom_dce,
        custom_jvp as custom_jvp,
        custom_transpose as custom_transpose,
        custom_vjp as custom_vjp,
        custom_vmap as custom_vmap,
    )
    from .function import custom as custom
    from .linear_calls import linear_call as linear_call
    from .roots import custom_root as custom_root
    from .sequential import sequential_vmap as sequential_vmap
    from .solves import custom_linear_solve as custom_linear_solve
    from .zeros import (
        CustomVJPPrimal as CustomVJPPrimal,
        SymbolicZero as SymbolicZero,
        custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
        zero_from_primal as zero_from_primal,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "closure_convert",
    "custom",
    "custom_dce",
    "custom_gradient",
    "custom_jvp",
    "custom_transpose",
    "custom_vjp",
]
