"""Operations and memory traffic of programs, by operation, without running them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.roofline import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
