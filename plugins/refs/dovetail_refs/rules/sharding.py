"""References: types say nothing of how what they hold is divided."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, nowhere

from ..primitives import addupdate_p, get_p, new_p, set_p, swap_p

for _p in (new_p, get_p, set_p, swap_p, addupdate_p):
    infer_rules.set(_p, nowhere)
