"""Compilation services, off by default: programs compiled by other processes, or ahead of calls.

``disk_cache`` keeps executables for later processes. ``source_cache`` recognises programs in it by
the code of their functions, so that they need not be traced. ``tiers`` runs programs at once while
another process compiles them in full. ``precompile`` compiles programs ahead of their calls, in
parallel, and records what a run compiles for other processes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .disk_cache.options import cache_dir as cache_dir
    from .public import *  # noqa: F403
    from .source_cache.libraries import NotSound as NotSound
    from .tiers.options import tiered as tiered
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
