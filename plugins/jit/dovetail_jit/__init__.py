"""Compilation: ``jit`` and its stages, eager dispatch, caches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .call.executable import (
        Executable as Executable,
        Runnable as Runnable,
        Successor as Successor,
    )
    from .call.observers import (
        Run as Run,
        watch_results as watch_results,
        watched_calls as watched_calls,
    )
    from .call.program import (
        signatures as signatures,
        trace_function as trace_function,
        trace_program as trace_program,
    )
    from .call.providers import (
        ExecutableProvider as ExecutableProvider,
        compile_with_cache as compile_with_cache,
        executables_of as executables_of,
        made_of as made_of,
    )
    from .call.request import (
        Request as Request,
        all_options as all_options,
        compile_uncached as compile_uncached,
        facts_of_compiling as facts_of_compiling,
        program_key as program_key,
    )
    from .call.signature import (
        Arguments as Arguments,
        Signature as Signature,
        split_arguments as split_arguments,
    )
    from .call.source_lookup import Answer as Answer, Call as Call, KnownProgram as KnownProgram
    from .fused_api import (
        cannot_be_hashed as cannot_be_hashed,
        forgiving as forgiving,
        fused as fused,
        is_operand as is_operand,
        one_call as one_call,
    )
    from .ir_command import example_call as example_call
    from .primitive import jit_p as jit_p
    from .public import *  # noqa: F403
    from .stages import (
        Compiled as Compiled,
        Lowered as Lowered,
        Traced as Traced,
        executable_identity as executable_identity,
    )
    from .structs import Format as Format, Layout as Layout
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
