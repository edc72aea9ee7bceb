"""Rules of ``batching.batch``: a mapped axis, operands and where it is in each."""

import dovetail_lax as lax
from dovetail_core import registry

from ..primitives import rotate_p


@registry().table("batching.batch").register(rotate_p)
def _rotate_batch(mapped, args, dims, /, *, by):
    (x,), (dim,) = args, dims
    at = by % x.shape[1 - dim]
    n = x.shape[1 - dim] - at
    parts = [lax.slice_in_dim(x, n, None, axis=1 - dim), lax.slice_in_dim(x, 0, n, axis=1 - dim)]
    return lax.concatenate(parts, 1 - dim), dim
