"""Operations on boxes as operations on their contents: rules of ``refs.discharge``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Trace, mutable_values, typeof
from dovetail_refs import discharge_rules

from ..box import BoxType, get_p, new_p, set_p


def _box_type(leaves: Sequence[Any], tree: Any, fixed: bool) -> BoxType:
    return BoxType(tree, tuple([typeof(x).strong() for x in leaves]), fixed)


@discharge_rules.register(new_p)
def _new_local(
    trace: Trace, args: Sequence[Any], params: dict[str, Any]
) -> mutable_values.LocalValue:
    return mutable_values.LocalValue(trace, _box_type(args, params["tree"], params["fixed"]), args)


@discharge_rules.register(get_p)
def _get_local(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    return list(args[0].contents)


@discharge_rules.register(set_p)
def _set_local(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    box, *leaves = args
    box.aval = _box_type(leaves, params["tree"], box.aval.fixed)
    box.contents[:] = leaves
    return []
