"""Names of the plugin ``profiler`` in the module ``dovetail``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .options import (
        explain_cache_misses as explain_cache_misses,
        log_compiles as log_compiles,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
