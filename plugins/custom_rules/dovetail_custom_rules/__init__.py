"""Custom rules: functions whose authors say how transformations treat them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from dovetail_ad import (
        SymbolicZero as SymbolicZero,
    )

    from .closures import (
        closure_convert as closure_convert,
        custom_gradient as custom_gradient,
    )
    from .decorators import (
        custom_dce as custom_dce,
        custom_jvp as custom_jvp,
        custom_transpose as custom_transpose,
        custom_vjp as custom_vjp,
        custom_vmap as custom_vmap,
        linear_call as linear_call,
        sequential_vmap as sequential_vmap,
    )
    from .function import (
        custom as custom,
    )
    from .implicit import (
        custom_linear_solve as custom_linear_solve,
        custom_root as custom_root,
    )
    from .zeros import (
        CustomVJPPrimal as CustomVJPPrimal,
        custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
        zero_from_primal as zero_from_primal,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "CustomVJPPrimal": "zeros",
    "SymbolicZero": "=dovetail_ad",
    "closure_convert": "closures",
    "custom": "function",
    "custom_dce": "decorators",
    "custom_gradient": "closures",
    "custom_jvp": "decorators",
    "custom_linear_solve": "implicit",
    "custom_root": "implicit",
    "custom_transpose": "decorators",
    "custom_vjp": "decorators",
    "custom_vjp_primal_tree_values": "zeros",
    "custom_vmap": "decorators",
    "linear_call": "decorators",
    "sequential_vmap": "decorators",
    "zero_from_primal": "zeros",
}
__all__ = [
    "closure_convert",
    "custom",
    "custom_dce",
    "custom_gradient",
    "custom_jvp",
    "custom_transpose",
    "custom_vjp",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
