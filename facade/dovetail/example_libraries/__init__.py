"""Small libraries on top of the rest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import optimizers as optimizers, stax as stax
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
