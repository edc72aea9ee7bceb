"""Compilation services, off by default: programs compiled by other processes, or ahead of calls.

``tiers`` runs programs at once while another process compiles them in full. ``precompile`` compiles
programs ahead of their calls, in parallel, and records what a run compiles for other processes.
``source_cache`` recognises programs in the disk cache by the code of their functions, so that they
need not be traced.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .public import *  # noqa: F403
    from .source_cache.libraries import NotSound as NotSound
    from .tiers.options import tiered as tiered
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
