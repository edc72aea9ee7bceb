"""Errors of pytree functions, and the differences between the structures of two pytrees."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dovetail_base.source import called, here, not_callable, short_repr
from dovetail_xla.bindings import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey

from .registry import children_with_keys, named_tuple_fields


@dataclass(slots=True)
class _Node:
    """One container of a tree or of a treedef; the keys may be unknown for a treedef."""

    type: Any
    aux: Any
    keys: list[Any] | None
    children: list[Any]


def explain_flattening(error: Exception, is_leaf: Any) -> None:
    """Raise an error that says why a tree cannot be flattened, if its cause is in the user's code.

    Raises:
        TypeError: ``is_leaf`` cannot be called.
        ValueError: the tree has a dict whose keys have no order.
        RecursionError: the tree is too deep, or contains itself.
    """
    if is_leaf is not None and not callable(is_leaf):
        raise not_callable("is_leaf", is_leaf) from None
    explain_arguments(error)
    if str(error).startswith("is_leaf predicate"):
        raise ValueError(f"a tree cannot be taken apart{called()}: {error}") from error


def explain_arguments(error: BaseException) -> None:
    """Raise an error that says why jaxlib could not flatten arguments, if ``error`` says that.

    jaxlib walks trees by recursion, as deep as Python's stack, and raises a chain of two errors at
    its end.

    Raises:
        ValueError: the tree has a dict whose keys have no order.
        RecursionError: the tree is too deep, or contains itself.
    """
    cause = error.__cause__ or error
    if str(error).startswith("Comparator raised"):
        raise ValueError(
            f"a tree cannot be taken apart{called()}: {error} Give keys of one type, or an "
            "OrderedDict."
        ) from error
    if isinstance(cause, RecursionError) and "PyTree" in str(cause):
        raise too_deep() from None


_DEPTH = 500


def check_depth(tree: Any, is_leaf: Any) -> None:
    """Refuse a tree of built-in containers that contains itself.

    With a predicate, jaxlib loses track of Python's stack when it comes to the end of it, so that
    every later call in the process would raise a RecursionError.

    Raises:
        RecursionError: containers are more than 500 levels deep.
    """
    if _is_large(tree) and _is_deep(tree, _never):
        if callable(is_leaf) and not _is_deep(tree, is_leaf):
            return
        raise too_deep()


_BUILT_IN = (list, tuple, dict)


def _is_large(tree: Any) -> bool:
    """Return whether a tree of built-in containers has many nodes, as any that is too deep has."""
    nodes = [tree]
    for node in nodes:  # grows
        cls = node.__class__
        if cls is tuple or cls is list:
            nodes += node
        elif cls is dict:
            nodes += node.values()
        else:
            continue
        if len(nodes) > _DEPTH:
            return True
    return False


def _never(node: Any) -> bool:
    return False


def _is_deep(tree: Any, is_leaf: Any) -> bool:
    level = [tree]
    for _ in range(_DEPTH):
        below: dict[int, Any] = {}
        for node in level:
            if node.__class__ in _BUILT_IN and not is_leaf(node):
                children: Any = node.values() if node.__class__ is dict else node
                below.update((id(child), child) for child in children)
        level = list(below.values())
        if not level:
            return False
    return True


def too_deep() -> RecursionError:
    """The error for a tree that is too deep for Python's stack."""
    limit = sys.getrecursionlimit()
    return RecursionError(
        f"a pytree is nested more deeply{here()} than Python's stack, limited to {limit} frames, "
        "lets it be walked, or it contains itself. Keep its leaves in a list or dict that is not "
        "nested, or raise the limit: sys.setrecursionlimit(...), a little more than the tree is "
        "deep."
    )


def explain_unflattening(error: Exception, treedef: Any, leaves: Any) -> None:
    """Raise an error that says why leaves cannot be put into a structure.

    Raises:
        TypeError: ``treedef`` is no structure, or ``leaves`` no iterable.
        ValueError: there are too many leaves, or too few.
    """
    check_treedef("treedef", treedef)
    if not isinstance(leaves, Iterable):
        raise TypeError(f"leaves must be an iterable, got {short_repr(leaves)}{called()}") from None
    if str(error).startswith("Too "):
        raise ValueError(f"{error} The structure is {treedef}{called()}.") from None


def check_treedef(argument: str, treedef: Any) -> None:
    """Raise a TypeError unless ``treedef`` is the structure of a tree."""
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(
            f"{argument} must be the structure of a tree, got {short_repr(treedef)} of type "
            f"{type(treedef).__name__}{called()}. Get one with tree_structure(tree)."
        )


def tree_differences(a: Any, b: Any) -> list[str]:
    """The differences between the structures of two trees (or treedefs), one line for each.

    A line names the path, and the nodes at it in `a` and in `b`.
    """
    lines: list[str] = []
    _compare(a, b, (), lines, prefix=False)
    return lines


def prefix_differences(prefix: Any, full: Any) -> list[str]:
    """The reasons why `prefix` is not a prefix of `full`, one line for each.

    A leaf of a prefix may stand for a whole subtree.
    """
    lines: list[str] = []
    _compare(prefix, full, (), lines, prefix=True)
    return lines


def flatten_all_up_to(function: str, treedef: PyTreeDef, trees: tuple[Any, ...]) -> list[list[Any]]:
    """`flatten_up_to` for the trees that follow the first one."""
    try:
        return [treedef.flatten_up_to(tree) for tree in trees]
    except (ValueError, TypeError):
        return [flatten_up_to(function, treedef, tree, at) for at, tree in enumerate(trees, 2)]


def flatten_up_to(function: str, treedef: PyTreeDef, tree: Any, position: int) -> list[Any]:
    """The parts of `tree` at the leaves of `treedef`; ValueError with the differences if not so."""
    try:
        return treedef.flatten_up_to(tree)
    except (ValueError, TypeError, AttributeError) as error:
        check_treedef("the structure", treedef)
        lines = prefix_differences(treedef, tree)
        if not lines:
            raise
        where = "\n  ".join(lines)
        raise ValueError(
            f"{function}: tree {position} does not have the structure of the first tree{here()}:\n"
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
    at_path = "".join(map(str, path)) or "the root"
    if here is None or there is None or here.type is not there.type:
        lines.append(f"at {at_path}: {_describe(a, here)} against {_describe(b, there)}")
        return
    if problem := _problem(here, there):
        lines.append(f"at {at_path}: {here.type.__name__} {problem}")
    for key, child, other in _matched(here, there):
        _compare(child, other, (*path, key), lines, prefix)


def _problem(here: _Node, there: _Node) -> str | None:
    if here.type is dict:
        return _key_difference(here.keys or [], there.keys or [])
    if len(here.children) != len(there.children):
        return f"of length {len(here.children)} against length {len(there.children)}"
    if not _equal(here.aux, there.aux):
        return f"with metadata {here.aux!r} against {there.aux!r}"
    return None


def _key_difference(here: list[Any], there: list[Any]) -> str | None:
    sides = (
        ("first", [str(key) for key in here if key not in there]),
        ("second", [str(key) for key in there if key not in here]),
    )
    parts = [f"{', '.join(keys)} only in the {side}" for side, keys in sides if keys]
    return f"with different entries: {'; '.join(parts)}" if parts else None


def _matched(here: _Node, there: _Node) -> list[tuple[Any, Any, Any]]:
    """(key, child here, child there) of the children that both sides have."""
    if here.type is dict:
        others = dict(zip(there.keys or [], there.children, strict=True))
        pairs = zip(here.keys or [], here.children, strict=True)
        return [(key, child, others[key]) for key, child in pairs if key in others]
    if len(here.children) != len(there.children):
        return []
    keys = here.keys or there.keys or [FlattenedIndexKey(at) for at in range(len(here.children))]
    return list(zip(keys, here.children, there.children, strict=True))


def _node(tree: Any) -> _Node | None:
    if isinstance(tree, PyTreeDef):
        data = tree.node_data()
        if data is None:
            return None
        children = tree.children()
        return _Node(data[0], _aux(*data), _keys(tree, *data), children)
    result = children_with_keys(tree)
    if result is None:
        return None
    pairs = list(result[0])
    kind: Any = type(tree)  # pyright: ignore[reportUnknownVariableType]
    return _Node(kind, _aux(kind, result[1]), [k for k, _ in pairs], [c for _, c in pairs])


def _aux(kind: Any, aux: Any) -> Any:
    # The metadata of C++'s own containers differ between trees and treedefs.
    return None if kind in (dict, list, type(None)) or issubclass(kind, tuple) else aux


def _keys(treedef: PyTreeDef, kind: Any, aux: Any) -> list[Any] | None:
    count = len(treedef.children())
    if kind is dict:
        return [DictKey(key) for key in aux]
    if kind in (list, tuple):
        return [SequenceKey(at) for at in range(count)]
    if fields := named_tuple_fields(kind):
        return [GetAttrKey(name) for name in fields]
    try:
        result = children_with_keys(treedef.unflatten([None] * treedef.num_leaves))
    except Exception:  # a container of the user's that refuses such children
        return None
    keys = [key for key, _ in result[0]] if result else []
    return keys if len(keys) == count else None


def _describe(tree: Any, node: _Node | None) -> str:
    if node is None:
        return "a leaf" if isinstance(tree, PyTreeDef) else f"a leaf of type {type(tree).__name__}"
    if node.type is type(None):
        return "None"
    count = len(node.children)
    return f"{node.type.__name__} with {count} {'child' if count == 1 else 'children'}"


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # metadata of any type, such as arrays whose == is not one truth value
        return False
