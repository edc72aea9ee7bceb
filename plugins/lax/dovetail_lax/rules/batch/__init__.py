"""Rules of ``batching.batch``: the primitives on arrays with a mapped axis."""

from . import (
    collectives as collectives,
    contractions as contractions,
    elementwise as elementwise,
    gather as gather,
    joining as joining,
    linalg as linalg,
    reductions as reductions,
    rng as rng,
    shape as shape,
    slicing as slicing,
    sorting as sorting,
    windows as windows,
)
