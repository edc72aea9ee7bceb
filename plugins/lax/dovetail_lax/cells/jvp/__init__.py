"""Cells of ``ad.jvp``: values and tangents of the primitives on arrays."""

from . import arithmetic as arithmetic
from . import complex as complex
from . import conversion as conversion
from . import exponential as exponential
from . import identity as identity
from . import piecewise as piecewise
from . import selection as selection
from . import special as special
from . import trigonometric as trigonometric
