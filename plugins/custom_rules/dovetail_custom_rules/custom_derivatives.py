"""Surface ``custom_derivatives``: rules of differentiation, by JAX's names."""

from dovetail_ad import SymbolicZero as SymbolicZero

from .checks import (
    CustomVJPPrimal as CustomVJPPrimal,
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
    zero_from_primal as zero_from_primal,
)
from .closures import closure_convert as closure_convert, custom_gradient as custom_gradient
from .decorators import (
    custom_jvp as custom_jvp,
    custom_vjp as custom_vjp,
    linear_call as linear_call,
)

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
