"""Rules of ``ad.transpose``: the primitives on arrays that are linear in some operand."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    contractions as contractions,
    gather as gather,
    joining as joining,
    linalg as linalg,
    reductions as reductions,
    shape as shape,
    values as values,
    windows as windows,
)
