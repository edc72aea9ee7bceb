"""``sequential_vmap``: batching by a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core.tree.util import tree_flatten, tree_map, tree_unflatten
from dovetail_lax import map as lax_map

from .decorators import custom_vmap


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Decorator: under ``vmap``, call ``f`` for one element after another, in a loop."""
    made = custom_vmap(f)

    def looped(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        leaves, tree = tree_flatten(args)
        flags = tree_flatten(in_batched)[0]
        mapped = [x for x, b in zip(leaves, flags) if b]

        def one(xs: Any) -> Any:
            rest = iter(xs)
            given = [next(rest) if b else x for x, b in zip(leaves, flags)]
            return made.rules.fun(*tree_unflatten(tree, given))

        out = lax_map(one, mapped)
        return out, tree_map(lambda _: True, out)

    made.def_vmap(looped)
    return made
