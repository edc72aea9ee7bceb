"""Process state that jaxlib's C++ call path reads, made once at import."""

from __future__ import annotations

from ._bindings import (
    Config as Config,
    set_disable_jit_state,
    set_enable_x64_state,
    set_post_hook_state,
    set_tracebacks_enabled as set_tracebacks_enabled,
    trace_context as trace_context,
    unset as unset,
)

# A Config object lives as long as the process and, once in the jit key, is compared at every
# call of every compiled function: make them at import only, never per object.
enable_x64_state: Config = Config(
    "dovetail_enable_x64", False, include_in_jit_key=True, include_in_trace_context=True
)
"""Whether 64-bit values keep their width; part of call and trace cache keys."""

disable_jit_state: Config = Config("dovetail_disable_jit", False)
"""When true, a compiled callable calls its Python function instead."""

post_hook_state: Config = Config("dovetail_post_hook", None)
"""None, or f(fun, args, kwargs, out), called after each call that stayed in C++."""

tracing_state: Config = Config("dovetail_tracing", False, include_in_jit_key=True)
"""Part of the call key, so that what is cached outside a trace is not used inside one."""

set_enable_x64_state(enable_x64_state)
set_disable_jit_state(disable_jit_state)
set_post_hook_state(post_hook_state)
