"""The hooks of a process whose environment asks for logs; without that there are none."""

from .options import explain_cache_misses, log_compiles, writer

if log_compiles.value or explain_cache_misses.value:
    writer().listens = True
    dovetail_traced = writer().dovetail_traced
    dovetail_lowered = writer().dovetail_lowered
    dovetail_compiled = writer().dovetail_compiled
