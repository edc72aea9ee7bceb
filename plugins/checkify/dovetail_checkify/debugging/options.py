"""The options ``debug_nans`` and ``debug_infs``."""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail_base.environment import as_bool
from dovetail_batching import BatchTrace, trace_makers
from dovetail_core import Option, Trace
from dovetail_jit import watch_results

from .kinds import INF, NAN
from .looking import look
from .mapped import WatchedBatchTrace

debug_nans = Option(
    "debug_nans",
    False,
    "A nan among the results of an operation raises, and says where it comes up.",
    check=as_bool,
    traced=True,
)
debug_infs = Option(
    "debug_infs",
    False,
    "An infinity among the results of an operation raises, and says where it comes up.",
    check=as_bool,
    traced=True,
)


def _trace_for(parent: Trace, carrier: Any) -> BatchTrace | None:
    on = debug_nans.value or debug_infs.value
    return WatchedBatchTrace(parent, carrier) if on else None


trace_makers.append(_trace_for)
watch_results(debug_nans, partial(look, NAN))
watch_results(debug_infs, partial(look, INF))
