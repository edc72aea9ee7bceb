"""Derivatives of what rearranges one array: it is linear."""

from ...primitives.shape import broadcast_in_dim_p, reshape_p, rev_p, squeeze_p, transpose_p
from .kinds import linear

for _primitive in (reshape_p, transpose_p, broadcast_in_dim_p, squeeze_p, rev_p):
    linear(_primitive)
