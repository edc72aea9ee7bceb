"""Names that live here for the sake of existing programs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.experimental import *

    from . import checkify as checkify, jet as jet, ode as ode, x64_context as x64_context
else:
    from dovetail_core import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
