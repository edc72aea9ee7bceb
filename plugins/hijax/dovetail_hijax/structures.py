"""Results of the rules that users write: taken apart, and compared with what they must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import current_source, describe_source, typeof
from dovetail_core.tree.util import (
    keystr,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)

from .zeros import Zero


def is_zero(x: Any) -> bool:
    """Whether ``x`` is a symbolic zero, which is a leaf."""
    return x.__class__ is Zero


def flatten(tree: Any) -> list[Any]:
    """The leaves of a tree, symbolic zeros among them."""
    return tree_flatten(tree, is_leaf=is_zero)[0]


def checked(
    rule: str,
    found: Any,
    wanted: Any,
    none: bool = False,
    said: tuple[str, str] = ("returned", "result"),
) -> list[Any]:
    """The leaves of a rule's result, after comparing it with a tree of types.

    Args:
        rule: names the rule and its primitive. none: None, in place of a leaf, is a zero.
        said: in the message, what was done with what was found, and what that is called.

    Raises:
        TypeError: structure or types differ; names the rule, the path and both types.
    """
    if none:
        found = _none_as_zero(found, wanted)
    leaves, tree = tree_flatten(found, is_leaf=is_zero)
    avals, wanted_tree = tree_flatten(wanted)
    where = describe_source(current_source())
    if tree != wanted_tree:
        raise TypeError(
            f"{rule} {said[0]} another structure than it must{where}: "
            f"{'; '.join(tree_differences(found, wanted)) or f'{tree}, not {wanted_tree}'}."
        )
    for i, (x, want) in enumerate(zip(leaves, avals)):
        if x.__class__ is Zero:
            continue
        got = typeof(x)
        if got.strong() != want.strong():
            path = keystr(tree_flatten_with_path(wanted)[0][i][0])
            raise TypeError(
                f"{rule} {said[0]} a value of type {got.str_short()} at {said[1]}{path}{where}; it "
                f"must be of type {want.str_short()}."
            )
    return leaves


def _none_as_zero(found: Any, wanted: Any) -> Any:
    """``found`` with zeros in place of None, where ``wanted`` has a leaf or a subtree."""
    if found is None:
        leaves, tree = tree_flatten(wanted)
        return tree_unflatten(tree, [Zero(a) for a in leaves])
    if isinstance(found, (tuple, list)) and isinstance(wanted, (tuple, list)):
        items: Sequence[Any] = found
        if len(items) == len(wanted):
            return type(wanted)([_none_as_zero(f, w) for f, w in zip(items, wanted)])
    return found
