"""The names that ``dovetail`` takes from the plugin ``refs``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functions import (
        empty_ref as empty_ref,
        free_ref as free_ref,
        freeze as freeze,
        new_ref as new_ref,
    )
    from .value import Ref as Ref
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
