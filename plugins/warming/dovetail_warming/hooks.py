"""The hook of a process whose environment says where to record; without that there is none."""

from .options import listener, record_compiles

if record_compiles.is_given:
    listener.is_always = True
    dovetail_compiled = listener.hooks.dovetail_compiled
