"""Evaluation of operations on boxes."""

from __future__ import annotations

from typing import Any

from dovetail_core import Tracer, check_alive, eval_rules
from dovetail_tree.util import tree_unflatten

from ..box import Box, BoxType, get_p, new_p, set_p


@eval_rules.register(new_p)
def _new(*leaves: Any, tree: Any, fixed: bool) -> Box:
    return Box(tree_unflatten(tree, leaves), fixed=fixed)


def _concrete(box: Any) -> Box:
    if isinstance(box, Tracer):
        check_alive(box)
        raise TypeError(f"{box!r} is traced, and used outside of its transformation")
    return box


@eval_rules.register(get_p)
def _get(box: Any, *, held: BoxType) -> list[Any]:
    return list(_concrete(box).leaves)


@eval_rules.register(set_p)
def _set(box: Any, *leaves: Any, tree: Any, before: BoxType) -> list[Any]:
    target = _concrete(box)
    target.tree, target.leaves = tree, list(leaves)
    return []
