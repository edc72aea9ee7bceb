"""Wrong inputs on which Dovetail and JAX differ, each decision with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from .mutation import Wrong


class Decision(NamedTuple):
    """Inputs whose texts match are accepted here alone, or refused here alone, for a reason."""

    accepted: bool
    text: str
    reason: str


DECISIONS = (
    Decision(True, r"\b(keepdims|copy|sparse|endpoint|retstep|deg|tiled|prevent_cse|has_aux|inline|"
             r"assume_unique|return_\w+|compute_uv|hermitian|increasing|promote_integers|"
             r"full_matrices|allow_\w+|keep_unused|ordered|rowvar|bias)=",
             "Flags are anything with a truth value, as in Python; JAX takes booleans alone where "
             "it makes them static, and what can be hashed elsewhere."),
    Decision(True, r"tree_differences|print_saved_residuals|empty_ref|dv\.custom\b",
             "JAX has no such function, or it does not work there."),
    Decision(True, r"dv\.linear_transpose\(g, ", "Operands may be trees of any values."),
    Decision(True, r"array_equiv|array_equal", "What is no array equals none, as in NumPy."),
    Decision(True, r"jnp\.delete\(v, (\[\]|np\.zeros\(\(0,\))", "Nothing is deleted, as in NumPy."),
    Decision(False, r"(custom_vmap|sequential_vmap|custom_jvp|custom_vjp|vectorize|checkpoint|"
             r"remat)\((?!g)", "What cannot be called is refused at once, not at the first call."),
    Decision(False, r"policy=|signature=|nondiff_argnums=|static_argn",
             "An argument of the wrong kind is refused where it is given, not where it is used."),
    Decision(False, r"config\.update|disable_jit|enable_x64|threefry_partitionable",
             "Options are checked: anything that is true would be stored otherwise."),
    Decision(False, r"weak_type=|inline=|tiled=",
             "What has no truth value is refused; JAX keeps it unseen."),
    Decision(False, r"jnp\.(bool|bool_)\(", "Strings and Ellipsis are no numbers; that NumPy asks "
             "for their truth is an accident."),
    Decision(False, r"longdouble", "Devices hold no such numbers, and narrowing would be silent."),
)  # fmt: skip


def decided(wrong: Wrong, accepted: bool) -> bool:
    """Whether a difference has been decided."""
    return any(d.accepted == accepted and re.search(d.text, wrong.text) for d in DECISIONS)
