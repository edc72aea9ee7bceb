"""Arguments of ``shard_map`` that are no arrays and have no specs: they are passed as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.wrapping import wraps
from dovetail_tree.util import tree_flatten, tree_unflatten

from .specs import INFER, Mapping, given_specs


def without_statics(
    mapping: Mapping, f: Callable[..., Any], args: tuple[Any, ...], in_specs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
    """A function of the arguments' leaves that have specs, or are arrays, these leaves, and their
    specs; what is given where that is all."""
    leaves, tree = tree_flatten(args)
    if in_specs is INFER or all(hasattr(x, "aval") for x in leaves):
        return f, args, in_specs
    specs = given_specs(mapping, "in_specs", in_specs, args)
    rest = [i for i, (x, s) in enumerate(zip(leaves, specs)) if s is not None or hasattr(x, "aval")]
    if len(rest) == len(leaves):
        return f, args, in_specs

    @wraps(f)
    def dynamic(*given: Any) -> Any:
        full = list(leaves)
        for i, x in zip(rest, given):
            full[i] = x
        return f(*tree_unflatten(tree, full))

    return dynamic, tuple([leaves[i] for i in rest]), tuple([specs[i] for i in rest])
