"""``import dovetail.custom_derivatives``: the names of dovetail_custom_rules.custom_derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_custom_rules.custom_derivatives import (
        CustomVJPPrimal as CustomVJPPrimal,
        SymbolicZero as SymbolicZero,
        closure_convert as closure_convert,
        custom_gradient as custom_gradient,
        custom_jvp as custom_jvp,
        custom_vjp as custom_vjp,
        custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
        linear_call as linear_call,
        zero_from_primal as zero_from_primal,
    )

_WHERE = {
    "CustomVJPPrimal": ("custom_rules", "dovetail_custom_rules.custom_derivatives:CustomVJPPrimal"),
    "SymbolicZero": ("custom_rules", "dovetail_custom_rules.custom_derivatives:SymbolicZero"),
    "closure_convert": ("custom_rules", "dovetail_custom_rules.custom_derivatives:closure_convert"),
    "custom_gradient": ("custom_rules", "dovetail_custom_rules.custom_derivatives:custom_gradient"),
    "custom_jvp": ("custom_rules", "dovetail_custom_rules.custom_derivatives:custom_jvp"),
    "custom_vjp": ("custom_rules", "dovetail_custom_rules.custom_derivatives:custom_vjp"),
    "custom_vjp_primal_tree_values": (
        "custom_rules",
        "dovetail_custom_rules.custom_derivatives:custom_vjp_primal_tree_values",
    ),
    "linear_call": ("custom_rules", "dovetail_custom_rules.custom_derivatives:linear_call"),
    "zero_from_primal": (
        "custom_rules",
        "dovetail_custom_rules.custom_derivatives:zero_from_primal",
    ),
}
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

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
