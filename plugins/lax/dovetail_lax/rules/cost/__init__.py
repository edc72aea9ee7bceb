"""Rules of ``remat.cost``: the work of operations that is not one flop for each element."""

from . import (
    contractions as contractions,
    linalg as linalg,
    moving as moving,
    reductions as reductions,
)
