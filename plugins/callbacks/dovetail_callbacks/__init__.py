"""Python functions called from inside of programs: pure ones, and ones with effects."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functions import io_callback as io_callback, pure_callback as pure_callback
    from .primitives import (
        buffer_callback_p as buffer_callback_p,
        debug_callback_p as debug_callback_p,
        io_callback_p as io_callback_p,
        pure_callback_p as pure_callback_p,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
