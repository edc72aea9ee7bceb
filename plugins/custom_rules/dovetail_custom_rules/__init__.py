"""Custom rules: functions for which their authors define rules of transformations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_ad import SymbolicZero as SymbolicZero

    from .checks import (
        CustomVJPPrimal as CustomVJPPrimal,
        custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
        zero_from_primal as zero_from_primal,
    )
    from .decorators import (
        custom_vmap as custom_vmap,
        linear_call as linear_call,
        sequential_vmap as sequential_vmap,
    )
    from .function import (
        custom_jvp_call_p as custom_jvp_call_p,
        custom_vjp_call_p as custom_vjp_call_p,
    )
    from .implicit import custom_linear_solve as custom_linear_solve, custom_root as custom_root
    from .public import *  # noqa: F403
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
