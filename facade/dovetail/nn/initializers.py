"""Initializers of parameters: functions of a key, a shape and a dtype."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_nn.initializers import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
