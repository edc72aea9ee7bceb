"""The hooks of a process whose environment asks for logs; without that there are none."""

from .options import explain_cache_misses, listener, log_compiles

if log_compiles.is_given or explain_cache_misses.is_given:
    listener.is_always = True
    dovetail_traced = listener.hooks.dovetail_traced
    dovetail_lowered = listener.hooks.dovetail_lowered
    dovetail_compiled = listener.hooks.dovetail_compiled
