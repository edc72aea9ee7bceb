"""Profiles of programs: the public names of ``jax.profiler``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_profiler.annotations import (
        StepTraceAnnotation as StepTraceAnnotation,
        TraceAnnotation as TraceAnnotation,
        annotate_function as annotate_function,
    )
    from dovetail_profiler.device_memory import (
        device_memory_profile as device_memory_profile,
        save_device_memory_profile as save_device_memory_profile,
    )
    from dovetail_profiler.sessions import (
        ProfileData as ProfileData,
        ProfileEvent as ProfileEvent,
        ProfileOptions as ProfileOptions,
        ProfilePlane as ProfilePlane,
        register_subprocess as register_subprocess,
        start_server as start_server,
        start_trace as start_trace,
        stop_server as stop_server,
        stop_trace as stop_trace,
        trace as trace,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
