"""Lowering rules that refuse conversions between local and global arrays."""

from __future__ import annotations

from dovetail_backends import stablehlo_rules

from ..local_arrays import refuse_lowering, to_global_p, to_local_p

for _p in (to_global_p, to_local_p):
    stablehlo_rules.set(_p, refuse_lowering(_p))
