"""Names of what a lowered program takes and returns, after the parameters of its function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, low_types
from dovetail_tree.util import keystr, tree_flatten_with_path, tree_unflatten


def leaf_names(fun: Any, in_tree: Any, static_nums: Sequence[int]) -> list[str]:
    """A name for each leaf of a call's dynamic arguments: ``x``, ``state['speed']``."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    static = {n % len(positional) for n in static_nums} if positional else set(static_nums)
    dynamic = [n for i, n in enumerate(positional) if i not in static]
    places = tree_unflatten(in_tree, list(range(in_tree.num_leaves)))
    found: list[str] = []
    for path, _ in tree_flatten_with_path(places)[0]:
        head: Any = path[1]
        if path[0].idx == 0:  # type: ignore[attr-defined]
            known = head.idx < len(dynamic)
            name = dynamic[head.idx] if known else f"args[{head.idx}]"
        else:
            name = str(head.key)
        found.append(name + keystr(path[2:]))
    return found


def array_names(program: ClosedJaxpr, consts: int, leaves: Sequence[str]) -> list[str]:
    """A name for each array that a lowered program takes; "" for what it closes over.

    The arrays of a high value are named after it, by number: ``q.0``, ``q.1``.
    """
    found: list[str] = []
    for aval, name in zip(program.in_avals, [*[""] * consts, *leaves]):
        held = low_types(aval.content_types() if aval.is_mutable else (aval,))
        whole = not (aval.is_mutable or aval.is_high)
        found += [name if whole or not name else f"{name}.{i}" for i in range(len(held))]
    return found


def result_names(out_tree: Any) -> list[str]:
    """The place of each leaf in a result: ``result['speed']``."""
    places = tree_unflatten(out_tree, list(range(out_tree.num_leaves)))
    return ["result" + keystr(path) for path, _ in tree_flatten_with_path(places)[0]]
