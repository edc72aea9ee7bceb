"""Functions of SciPy, a module for each of its packages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        cluster as cluster,
        fft as fft,
        integrate as integrate,
        interpolate as interpolate,
        linalg as linalg,
        ndimage as ndimage,
        optimize as optimize,
        signal as signal,
        sparse as sparse,
        spatial as spatial,
        special as special,
        stats as stats,
    )
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
