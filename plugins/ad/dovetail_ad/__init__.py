"""Differentiation: forward and reverse mode, of any order."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .forward import (
        JvpTrace as JvpTrace,
        JvpTracer as JvpTracer,
        jvp_values as jvp_values,
    )
    from .functions import linearize_flat as linearize_flat
    from .linear import LinearTrace as LinearTrace, is_linear as is_linear
    from .public import *  # noqa: F403
    from .pushforwards import (
        DeferredLinearization as DeferredLinearization,
        define_pushforward as define_pushforward,
        deinterleaved as deinterleaved,
        interleaved as interleaved,
        interleaved_types as interleaved_types,
        typed as typed,
    )
    from .region_linearization import split_regions as split_regions
    from .split import Split as Split, split_program as split_program
    from .tables import (
        JvpRule as JvpRule,
        PartialEvalRule as PartialEvalRule,
        TransposeRule as TransposeRule,
        jvp_rules as jvp_rules,
        partial_eval_rules as partial_eval_rules,
        transpose_rules as transpose_rules,
        via_jvp as via_jvp,
    )
    from .tangents import (
        SymbolicZero as SymbolicZero,
        has_tangent as has_tangent,
        instantiate_zeros as instantiate_zeros,
        transposed_type as transposed_type,
    )
    from .transposition import (
        backward_pass as backward_pass,
        transpose_program as transpose_program,
        transposed_call as transposed_call,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
