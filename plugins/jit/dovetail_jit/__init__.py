"""Compilation: ``jit`` and its stages, eager dispatch, caches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .eager import fused as fused
    from .primitive import jit_p as jit_p
    from .public import *  # noqa: F403
    from .stages import Compiled as Compiled, Lowered as Lowered, Traced as Traced
    from .watching import Run as Run, watch_results as watch_results
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
