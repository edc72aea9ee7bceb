"""The errors that programs can meet."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_base.errors import *
    from dovetail_random.reuse.analysis import KeyReuseError as KeyReuseError
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
