"""Rules of ``batching.batch``: the primitives on arrays with a mapped axis."""

from . import (
    collectives as collectives,
    conv as conv,
    conversion as conversion,
    cumulative as cumulative,
    dot as dot,
    elementwise as elementwise,
    fft as fft,
    gather as gather,
    identity as identity,
    joining as joining,
    linalg as linalg,
    reductions as reductions,
    rng as rng,
    scatter as scatter,
    shape as shape,
    slicing as slicing,
    sorting as sorting,
    windows as windows,
)
