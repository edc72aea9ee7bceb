"""Programs compiled ahead of their first call: in parallel, and for other processes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .public import *  # noqa: F403
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
