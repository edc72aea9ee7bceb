"""Saying where and how the structures of two pytrees differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .tree_registry import registry
from .xla._bindings import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey


@dataclass(slots=True)
class _Node:
    """One container of a tree or of a treedef: its type, metadata, and children by key."""

    type: Any
    aux: Any
    children: dict[Any, Any]


def tree_differences(a: Any, b: Any) -> list[str]:
    """The differences between the structures of two trees (or treedefs), one line for each.

    A line names the path, what is there in `a` and what in `b`; no line, no difference.
    """
    lines: list[str] = []
    _compare(a, b, (), lines, prefix=False)
    return lines


def prefix_differences(prefix: Any, full: Any) -> list[str]:
    """Why `prefix` is not a prefix of `full`; a leaf of a prefix may cover a whole subtree."""
    lines: list[str] = []
    _compare(prefix, full, (), lines, prefix=True)
    return lines


def flatten_up_to(function: str, treedef: PyTreeDef, tree: Any, position: int) -> list[Any]:
    """The parts of `tree` at the leaves of `treedef`; ValueError with the differences if not so."""
    try:
        return treedef.flatten_up_to(tree)
    except (ValueError, TypeError) as error:
        lines = prefix_differences(treedef, tree)
        if not lines:
            raise
        where = "\n  ".join(lines)
        raise ValueError(
            f"{function}: tree {position + 1} does not have the structure of the first tree:\n"
            f"  {where}\nGive all trees one structure, or pass is_leaf to treat the node there as "
            "a leaf of the first tree."
        ) from error


def _compare(a: Any, b: Any, path: tuple[Any, ...], lines: list[str], prefix: bool) -> None:
    here = _node(a)
    if here is None and prefix:
        return
    there = _node(b)
    if here is None and there is None:
        return
    place = "".join(map(str, path)) or "the root"
    if here is None or there is None or here.type is not there.type:
        lines.append(f"at {place}: {_describe(a, here)} against {_describe(b, there)}")
        return
    if here.children.keys() != there.children.keys():
        lines.append(f"at {place}: {_key_difference(here, there)}")
    elif not _equal(here.aux, there.aux):
        name = here.type.__name__
        lines.append(f"at {place}: {name} with metadata {here.aux!r} against {there.aux!r}")
    for key, child in here.children.items():
        if key in there.children:
            _compare(child, there.children[key], (*path, key), lines, prefix)


def _node(tree: Any) -> _Node | None:
    if isinstance(tree, PyTreeDef):
        data = tree.node_data()
        if data is None:
            return None
        children = tree.children()
        keys = _keys(data[0], data[1], len(children))
        return _Node(data[0], _plain(data[1]), dict(zip(keys, children)))
    found = registry.flatten_one_level_with_keys(tree)
    if found is None:
        return None
    children, aux = found
    return _Node(type(tree), _plain(aux), dict(children))


def _plain(aux: Any) -> Any:
    return tuple(cast("list[Any]", aux)) if isinstance(aux, list) else aux


def _keys(kind: Any, aux: Any, count: int) -> list[Any]:
    if kind in (list, tuple):
        return [SequenceKey(at) for at in range(count)]
    if kind is dict:
        return [DictKey(key) for key in aux]
    if issubclass(kind, tuple):  # a named tuple
        return [GetAttrKey(name) for name in kind._fields]
    return [FlattenedIndexKey(at) for at in range(count)]


def _key_difference(here: _Node, there: _Node) -> str:
    name = here.type.__name__
    if here.type in (list, tuple):
        return f"{name} of length {len(here.children)} against length {len(there.children)}"
    only_here = [str(key) for key in here.children if key not in there.children]
    only_there = [str(key) for key in there.children if key not in here.children]
    parts = [
        f"{', '.join(keys)} only in the {which}"
        for keys, which in ((only_here, "first"), (only_there, "second"))
        if keys
    ]
    return f"{name} with different entries: {'; '.join(parts)}"


def _describe(tree: Any, node: _Node | None) -> str:
    if node is None:
        return "a leaf" if isinstance(tree, PyTreeDef) else f"a leaf of type {type(tree).__name__}"
    if node.type is type(None):
        return "None"
    return f"{node.type.__name__} with {len(node.children)} children"


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # metadata of any type, such as arrays whose == is not one truth value
        return False
