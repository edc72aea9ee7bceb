"""Results of the rules that users write: flattened, and checked against trees of types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import SymbolicZero, is_linear
from dovetail_base.wrapping import alias
from dovetail_core import current_source, describe_source, float0, typeof
from dovetail_tree.util import (
    keystr,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)

Zero = SymbolicZero
is_undefined_primal = alias(is_linear, "is_undefined_primal", __name__)  # as JAX calls it


def checked(
    rule: str,
    result: Any,
    wanted: Any,
    none: bool = False,
    wording: tuple[str, str] = ("returned", "result"),
) -> list[Any]:
    """The leaves of a rule's result, after comparing it with a tree of types.

    Args:
        rule: names the rule and its primitive. none: if True, None instead of a leaf is a zero.
        wording: the verb and the noun for the result in the message.

    Raises:
        TypeError: structure or types differ; names the rule, the path and both types.
    """
    if none:
        result = _none_as_zero(result, wanted)
    leaves, tree = tree_flatten(result)
    avals, wanted_tree = tree_flatten(wanted)
    where = describe_source(current_source())
    if tree != wanted_tree:
        raise TypeError(
            f"{rule} {wording[0]} another structure than it must{where}: "
            f"{'; '.join(tree_differences(result, wanted)) or f'{tree}, not {wanted_tree}'}."
        )
    for i, (x, want) in enumerate(zip(leaves, avals)):
        if x.__class__ is Zero:
            continue
        got = typeof(x)
        if not got.is_declared_as(want):
            path = keystr(tree_flatten_with_path(wanted)[0][i][0])
            raise TypeError(
                f"{rule} {wording[0]} a value of type {got.str_short()} at {wording[1]}{path}"
                f"{where}; it must be of type {want.str_short()}."
            )
    return leaves


def _none_as_zero(result: Any, wanted: Any) -> Any:
    """``result`` with zeros instead of None, where ``wanted`` has a leaf or a subtree."""
    if result is None:
        leaves, tree = tree_flatten(wanted)
        return tree_unflatten(tree, [Zero(a) for a in leaves])
    if isinstance(result, (tuple, list)) and isinstance(wanted, (tuple, list)):
        items: Sequence[Any] = result
        if len(items) == len(wanted):
            return type(wanted)([_none_as_zero(f, w) for f, w in zip(items, wanted)])
    return result


def symbolic(primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Tangents as rules take them: ``Zero`` instead of None."""
    return [Zero(typeof(p).tangent_type()) if t is None else t for p, t in zip(primals, tangents)]


def plain(tangent: Any) -> Any:
    """A rule's result in the form of the tables: None instead of a symbolic zero, and of a tangent
    of dtype float0 (one part of a value may consist of integers)."""
    if tangent is None or tangent.__class__ is Zero:
        return None
    aval: Any = typeof(tangent)
    return None if not aval.is_high and aval.dtype == float0 else tangent
