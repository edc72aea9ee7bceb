"""From an author's rule of dead-code elimination, on pytrees, to one on flat lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core.tree.util import flatten_one_level, tree_structure, tree_unflatten

from .checks import check_type, differences, name_of, path_of
from .flat import Flags
from .frame import Frame
from .zeros import arrayed, typed


def flat_dce(frame: Frame, rule: Callable[..., Any]) -> Callable[[Flags], Any]:
    """``rule(*static, used_outs, *arguments)``, which returns the result with None for what is
    not used."""
    what = f"the dce rule {name_of(rule)} of {frame.name}"

    def reduce(used: Flags) -> Callable[..., list[Any]]:
        flags = tree_unflatten(frame.out_tree, list(used))
        static = [frame.statics[i] for i in sorted(frame.statics)]

        def run(*operands: Any) -> list[Any]:
            arguments = frame.arguments(operands)
            rest = [x for i, x in enumerate(arguments) if i not in frame.statics]
            out = frame.run(rule, *static, flags, *rest)
            return _used_leaves(frame, what, out, used)

        return run

    return reduce


def _used_leaves(frame: Frame, what: str, out: Any, used: Flags) -> list[Any]:
    """The used leaves of what a rule returned.

    Raises:
        TypeError: a container is another than in the function's result. ValueError: a used result
            is None, or of another type. Names rule, function, path and both.
    """
    leaves: list[Any] = []
    full = tree_unflatten(frame.out_tree, list(range(len(used))))
    if not _walk(full, out, leaves):
        raise TypeError(
            f"{what} returned another structure than {frame.name} itself: "
            f"{differences(frame.out_tree, tree_structure(out))}. Return that structure, with "
            "None for what is not used."
        )
    found: list[Any] = []
    for i, (x, u) in enumerate(zip(leaves, used)):
        if not u:
            continue
        want = frame.out_avals[i]
        if x is None:
            path = path_of(frame.out_tree, i)
            raise ValueError(
                f"{what} returned None for the output{f' {path}' if path else ''}, which is used: "
                f"{frame.name} returns {want.str_short()} there. Compute every output whose entry "
                "in used_outs is true."
            )
        check_type(x, want, f"{what} returned", frame.out_tree, i, f"{frame.name} returns",
                   ValueError)  # fmt: skip
        found.append(typed(arrayed(x), want))
    return found


def _walk(full: Any, out: Any, leaves: list[Any]) -> bool:
    """Collect what ``out`` has at the leaves of ``full``; None may stand for any part of it.

    Leaves of ``full`` are integers. False where the containers differ.
    """
    if isinstance(full, int):
        if out is not None and tree_structure(out).num_nodes != 1:
            return False
        leaves.append(out)
        return True
    if out is None:
        leaves.extend([None] * tree_structure(full).num_leaves)
        return True
    if tree_structure(full).num_leaves == 0:
        return tree_structure(out) == tree_structure(full)
    if type(out) is not type(full):
        return False
    ours, aux = flatten_one_level(full)
    theirs, their_aux = flatten_one_level(out)
    ours, theirs = list(ours), list(theirs)
    if len(ours) != len(theirs) or aux != their_aux:
        return False
    return all(_walk(a, b, leaves) for a, b in zip(ours, theirs))
