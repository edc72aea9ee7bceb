"""Sharding rules of callbacks: results are unsharded, as Python returns complete arrays."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, nowhere

from ..primitives import buffer_callback_p, debug_callback_p, io_callback_p, pure_callback_p

for _p in (pure_callback_p, io_callback_p, debug_callback_p, buffer_callback_p):
    infer_rules.set(_p, nowhere)
