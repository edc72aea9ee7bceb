"""The provider ``trace_cache``."""

from dovetail_core import TraceCache

from . import cache, eager_calls


class ClosureCache(TraceCache):
    """Keeps what functions were traced to while nothing that they close over changes."""

    # Functions themselves: a method that calls one would be a frame more for each nested loop.
    get = staticmethod(cache.get)  # type: ignore[assignment]
    put = staticmethod(cache.put)  # type: ignore[assignment]
    alias = staticmethod(cache.alias)  # type: ignore[assignment]
    tracing = cache.tracing  # type: ignore[assignment]
    eager_call = staticmethod(eager_calls.eager_call)  # type: ignore[assignment]


TRACE_CACHE = ClosureCache()
