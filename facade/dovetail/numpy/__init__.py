"""NumPy's functions on arrays that can be traced."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_numpy import *
    from dovetail_numpy import (
        __array_api_version__ as __array_api_version__,
        __array_namespace_info__ as __array_namespace_info__,
    )

    from . import fft as fft, linalg as linalg
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
