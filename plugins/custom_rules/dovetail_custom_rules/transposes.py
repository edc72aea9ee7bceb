"""From an author's rule of transposition, on pytrees, to one on flat lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core.tree.util import tree_unflatten, treedef_children

from .backward_rules import argument_cotangents
from .checks import name_of
from .flat import Transposed
from .frame import Frame
from .zeros import arrayed, shown_zero


def flat_transpose(frame: Frame, rule: Callable[..., Any], in_avals: Sequence[Any]) -> Transposed:
    """``rule(*residuals, cotangent)``, which returns the cotangent of the last argument.

    The function is linear in its last argument; the others are residuals.
    """
    what = f"the transpose rule {name_of(rule)} of {frame.name}"
    last = frame.count - 1
    owners = frame.owners()
    linear = (*[False] * frame.closed, *(i == last for i in owners))
    n = sum(linear)
    tree = treedef_children(frame.in_tree)[-1]
    avals = list(in_avals)[len(in_avals) - n :]

    def apply(operands: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        leaves = [None if x is None else arrayed(x) for x in operands[frame.closed :]]
        arguments = frame.fill([0 if x is None else x for x in leaves])
        shown = [
            shown_zero(a.cotangent_type(), False) if ct is None else arrayed(ct)
            for ct, a in zip(cts, frame.out_avals)
        ]
        found = frame.run(rule, *arguments[:last], tree_unflatten(frame.out_tree, shown))
        cotangents = argument_cotangents(what, last, tree, found, avals)
        return [*[None] * (len(operands) - n), *cotangents]

    return Transposed(linear, apply)
