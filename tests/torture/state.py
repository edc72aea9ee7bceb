"""What Dovetail keeps per thread: after a call was interrupted it must be as it was before."""

from __future__ import annotations

import gc
from typing import Any

from dovetail_base.nesting import _level  # pyright: ignore[reportPrivateUsage]
from dovetail_base.source import get_override, here
from dovetail_core import EVAL, axis_env, config, get_trace
from dovetail_core.types.effects import is_ignoring_io
from dovetail_xla.callbacks import in_callback
from dovetail_xla.config import tracing_state


def state() -> dict[str, Any]:
    """The state of this thread, to be compared with that of another time."""
    return {
        "trace": get_trace() is EVAL,
        "tracing": tracing_state.get_local(),
        "source": get_override(),
        "scope": here().partition("in scope")[2],
        "axes": axis_env(),
        "silenced": is_ignoring_io(),
        "nesting": _level.get(),
        "callback": in_callback(),
        "collector": gc.get_threshold(),
        **{name: config.option(name).state.get_local() for name in config.names()},
    }
