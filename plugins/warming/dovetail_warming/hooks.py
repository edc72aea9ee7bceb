"""The hook of a process whose environment says where to record; without that there is none."""

from .options import record_compiles, recorder

if record_compiles.value is not None:
    recorder().listens = True
    dovetail_compiled = recorder().dovetail_compiled
