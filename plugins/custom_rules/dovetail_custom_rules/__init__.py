"""Custom rules: functions whose authors say how transformations treat them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .decorators import custom_vmap as custom_vmap
    from .linear_calls import linear_call as linear_call
    from .public import *  # noqa: F403
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
