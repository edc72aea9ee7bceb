"""Differentiation: forward and reverse mode, of any order."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .forward import JvpTrace as JvpTrace, jvp_values as jvp_values
    from .linear import LinearTrace as LinearTrace, is_linear as is_linear
    from .public import *  # noqa: F403
    from .split import Split as Split, split_program as split_program
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
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
