"""Cells of ``ad.transpose``: the primitives on arrays that are linear in some operand."""

from . import arithmetic as arithmetic
from . import complex as complex
from . import conversion as conversion
from . import identity as identity
from . import selection as selection
