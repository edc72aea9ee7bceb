"""Compilation: ``jit`` and its stages, eager dispatch, caches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ahead import Answer as Answer, Call as Call, Found as Found
    from .compilation import executables_of as executables_of
    from .disk_cache import cache_dir as cache_dir, compile_with_cache as compile_with_cache
    from .eager import fused as fused
    from .examples import example_call as example_call
    from .executables import Executable as Executable
    from .primitive import jit_p as jit_p
    from .provisional import Provisional as Provisional, Successor as Successor
    from .public import *  # noqa: F403
    from .stages import (
        Compiled as Compiled,
        Lowered as Lowered,
        Traced as Traced,
        executable_identity as executable_identity,
    )
    from .structs import Format as Format, Layout as Layout
    from .timing import watched_calls as watched_calls
    from .tracing import (
        Signature as Signature,
        signatures as signatures,
        take_apart as take_apart,
        trace_program as trace_program,
    )
    from .watching import Run as Run, watch_results as watch_results
    from .whole_calls import (
        cannot_be_hashed as cannot_be_hashed,
        forgiving as forgiving,
        is_operand as is_operand,
        one_call as one_call,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
