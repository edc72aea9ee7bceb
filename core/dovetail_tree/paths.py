"""Pytree functions with the path of each leaf."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

from dovetail_base.source import here, not_callable, short_repr
from dovetail_xla.bindings import (
    DictKey as DictKey,
    FlattenedIndexKey as FlattenedIndexKey,
    GetAttrKey as GetAttrKey,
    PyTreeDef,
    SequenceKey as SequenceKey,
)

from .errors import check_depth, explain_flattening, flatten_all_up_to
from .registry import registry

KeyEntry: TypeAlias = Hashable
"""One step of a path: `DictKey`, `SequenceKey`, `GetAttrKey`, `FlattenedIndexKey` or your own."""

KeyPath: TypeAlias = tuple[KeyEntry, ...]
"""The way from the root of a tree to one of its leaves."""


def _predicate(is_leaf: Callable[..., bool], takes_path: bool) -> Callable[..., bool]:
    if not callable(is_leaf):
        raise not_callable("is_leaf", is_leaf)
    if takes_path:
        return is_leaf

    def without_path(path: KeyPath, node: Any) -> bool:
        return is_leaf(node)

    return without_path


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """([(path, leaf), ...], structure); `is_leaf` gets the path first if `is_leaf_takes_path`."""
    if is_leaf is not None and not is_leaf_takes_path:
        check_depth(tree, is_leaf)
    predicate = None if is_leaf is None else _predicate(is_leaf, is_leaf_takes_path)
    try:
        return registry.flatten_with_path(tree, predicate)
    except (TypeError, ValueError, RecursionError, SystemError) as error:
        explain_flattening(error, is_leaf)
        raise


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """[(path, leaf), ...] of a tree."""
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """`tree_map` whose function is called `f(path, leaf, *other_leaves)`.

    Raises ValueError, with the path, if another tree does not have the first one's structure.
    """
    keyed, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    if not callable(f):
        raise not_callable("f", f)
    if not rest:
        return treedef.unflatten([f(path, leaf) for path, leaf in keyed])
    others = flatten_all_up_to("tree_map_with_path", treedef, rest)
    paths = [path for path, _ in keyed]
    leaves = [leaf for _, leaf in keyed]
    return treedef.unflatten([f(*xs) for xs in zip(paths, leaves, *others, strict=True)])


def keystr(keys: Iterable[KeyEntry], *, simple: bool = False, separator: str = "") -> str:
    """A path as text: `['w'][0].bias`, or with `simple=True, separator="/"`: `w/0/bias`."""
    given: tuple[Any, Any] = keys, separator
    if not isinstance(given[1], str) or not isinstance(given[0], Iterable):
        raise TypeError(
            f"keystr takes the keys of a path and a separator that is a string, got "
            f"{short_repr(keys)} and separator={short_repr(separator)}{here()}"
        )
    return separator.join([_simple(key) if simple else str(key) for key in keys])


def _simple(key: Any) -> str:
    match key:
        case DictKey(key=name) | FlattenedIndexKey(key=name):
            return str(name)
        case SequenceKey(idx=index):
            return str(index)
        case GetAttrKey(name=name):
            return str(name)
        case _:
            return str(key)
