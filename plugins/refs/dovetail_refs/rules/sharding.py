"""Sharding rules of references: values read are sharded like the same part of an array."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import Application, infer_rules, nowhere

from ..indexing import indexed_type
from ..primitives import addupdate_p, get_p, set_p, swap_p

for _p in (set_p, addupdate_p):
    infer_rules.set(_p, nowhere)


def _read(app: Application, held: Any, index: Any, operands: Any) -> Any:
    result = indexed_type(held.inner_aval, index, operands)
    return (None,) * result.ndim if result.divided is None else result.divided.spec.partitions


@infer_rules.register(get_p)
def _get(app: Application, /, *, index: Any) -> Any:
    return _read(app, app.ins[0], index, app.ins[1:])


@infer_rules.register(swap_p)
def _swap(app: Application, /, *, index: Any) -> Any:
    return _read(app, app.ins[0], index, app.ins[2:])
