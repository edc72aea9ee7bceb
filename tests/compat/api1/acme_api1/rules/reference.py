"""Rules of ``backends.reference``: arrays to an array, by NumPy."""

import numpy as np

from dovetail_core import registry

from ..primitives import rotate_p


@registry().table("backends.reference").register(rotate_p)
def _rotate_reference(x, *, by):
    return np.roll(x, by)
