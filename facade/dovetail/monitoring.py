"""Events that programs and libraries record, and listeners for them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_jit.monitoring import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
