"""What users import of this plugin: each name is loaded when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .backend.interpreter import BACKEND as BACKEND  # with backend
    from .primitive.shift import shift as shift, shift_p as shift_p  # with primitive
    from .transformation.bounds import bounds as bounds  # with transformation
    from .type.polar import Polar as Polar, power as power, real as real  # with type
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
