"""Activations, softmax, attention and initializers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_nn import *

    from . import initializers as initializers
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
