"""Cells of ``backends.stablehlo``: lowering of the primitives on arrays."""

from . import arithmetic as arithmetic
from . import control_flow as control_flow
from . import discrete as discrete
from . import special as special
from . import transcendental as transcendental
from . import values as values
