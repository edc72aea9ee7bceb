"""Differentiation: forward and reverse mode, of any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .arguments import (
        has_tangent as has_tangent,
    )
    from .forward import (
        JvpTrace as JvpTrace,
        jvp_values as jvp_values,
    )
    from .functions import (
        jvp as jvp,
        linear_transpose as linear_transpose,
        linearize as linearize,
        vjp as vjp,
    )
    from .gradient import (
        grad as grad,
        value_and_grad as value_and_grad,
    )
    from .jacobian import (
        hessian as hessian,
        jacfwd as jacfwd,
        jacrev as jacrev,
    )
    from .late import (
        Late as Late,
        define_pushforward as define_pushforward,
        from_turns as from_turns,
        in_turns as in_turns,
        typed as typed,
        types_in_turns as types_in_turns,
    )
    from .linear import (
        LinearTrace as LinearTrace,
        is_linear as is_linear,
    )
    from .regions import (
        split_regions as split_regions,
    )
    from .split import (
        Split as Split,
        split_program as split_program,
    )
    from .tables import (
        JvpRule as JvpRule,
        PartialEvalRule as PartialEvalRule,
        TransposeRule as TransposeRule,
        jvp_rules as jvp_rules,
        partial_eval_rules as partial_eval_rules,
        transpose_rules as transpose_rules,
    )
    from .transposition import (
        backward_pass as backward_pass,
        transpose_program as transpose_program,
        transposed_call as transposed_call,
    )
    from .zeros import (
        SymbolicZero as SymbolicZero,
        instantiate_zeros as instantiate_zeros,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "JvpRule": "tables",
    "JvpTrace": "forward",
    "Late": "late",
    "LinearTrace": "linear",
    "PartialEvalRule": "tables",
    "Split": "split",
    "SymbolicZero": "zeros",
    "TransposeRule": "tables",
    "backward_pass": "transposition",
    "define_pushforward": "late",
    "from_turns": "late",
    "grad": "gradient",
    "has_tangent": "arguments",
    "hessian": "jacobian",
    "in_turns": "late",
    "instantiate_zeros": "zeros",
    "is_linear": "linear",
    "jacfwd": "jacobian",
    "jacrev": "jacobian",
    "jvp": "functions",
    "jvp_rules": "tables",
    "jvp_values": "forward",
    "linear_transpose": "functions",
    "linearize": "functions",
    "partial_eval_rules": "tables",
    "split_program": "split",
    "split_regions": "regions",
    "transpose_program": "transposition",
    "transpose_rules": "tables",
    "transposed_call": "transposition",
    "typed": "late",
    "types_in_turns": "late",
    "value_and_grad": "gradient",
    "vjp": "functions",
}
__all__ = [
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "value_and_grad",
    "vjp",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
