"""Pytrees: nested containers taken apart into leaves and structure, over jaxlib's C++ registry."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, cast

from dovetail_base.foreign import reword_errors
from dovetail_base.source import here, not_callable, short_repr
from dovetail_xla.bindings import (
    PyTreeDef as PyTreeDef,
    all_leaves as _all_leaves,
    treedef_tuple as _treedef_tuple,
)

from .errors import (
    check_depth,
    check_treedef,
    explain_flattening,
    explain_unflattening,
    flatten_all_up_to,
    flatten_up_to,
    prefix_differences as prefix_differences,
    tree_differences as tree_differences,
)
from .paths import (
    DictKey as DictKey,
    FlattenedIndexKey as FlattenedIndexKey,
    GetAttrKey as GetAttrKey,
    KeyEntry as KeyEntry,
    KeyPath as KeyPath,
    SequenceKey as SequenceKey,
    keystr as keystr,
    tree_flatten_with_path as tree_flatten_with_path,
    tree_leaves_with_path as tree_leaves_with_path,
    tree_map_with_path as tree_map_with_path,
)
from .registry import (
    calls as calls,
    children_with_keys,
    register_dataclass as register_dataclass,
    register_parts as register_parts,
    register_pytree_node as register_pytree_node,
    register_pytree_node_class as register_pytree_node_class,
    register_pytree_with_keys as register_pytree_with_keys,
    register_pytree_with_keys_class as register_pytree_with_keys_class,
    register_static as register_static,
    registry as registry,
    tuples as tuples,
)

default_registry = registry
IsLeaf = Callable[[Any], bool] | None
_MISSING: Any = object()
_flatten = registry.flatten


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """(leaves, structure) of a tree; a node for which `is_leaf(node)` is true counts as a leaf."""
    if is_leaf is not None:
        check_depth(tree, is_leaf)
    try:
        return _flatten(tree, is_leaf)
    except (TypeError, ValueError, RecursionError, SystemError) as error:
        explain_flattening(error, is_leaf)
        raise


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with these leaves; ValueError for a wrong number of them."""
    try:
        return treedef.unflatten(leaves)
    except (AttributeError, TypeError, ValueError) as error:
        explain_unflattening(error, treedef, leaves)
        raise


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in its fixed order (dict entries by sorted key)."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree: hashable, comparable, picklable."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree with `f(leaf, *other_leaves)` at each leaf.

    Each tree in `rest` must have the structure of `tree` down to its leaves, where it may go on.
    Raises ValueError, naming the path and both sides, if one does not.
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    if not callable(f):
        raise not_callable("f", f)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in leaves])
    others = flatten_all_up_to("tree_map", treedef, rest)
    return treedef.unflatten([f(*xs) for xs in zip(leaves, *others)])


@reword_errors
def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """`functools.reduce` over the leaves; TypeError for no leaves and no initializer."""
    leaves = tree_flatten(tree, is_leaf)[0]
    if not callable(function):
        raise not_callable("function", function)
    if initializer is not _MISSING:
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise TypeError(f"tree_reduce of a tree without leaves{here()}: pass `initializer`")
    return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combines the leaves pairwise in a balanced way, so chains have logarithmic length.

    `operation` must be associative. TypeError for a tree without leaves and no `identity`.
    """
    leaves = tree_flatten(tree, is_leaf)[0]
    if not callable(operation):
        raise not_callable("operation", operation)
    if leaves:
        return _reduce_halves(operation, leaves)
    if identity is _MISSING:
        raise TypeError(
            f"tree_reduce_associative of a tree without leaves{here()}: pass `identity`"
        )
    return identity


def _reduce_halves(operation: Callable[[Any, Any], Any], leaves: list[Any]) -> Any:
    if len(leaves) == 1:
        return leaves[0]
    half = len(leaves) // 2
    return operation(
        _reduce_halves(operation, leaves[:half]), _reduce_halves(operation, leaves[half:])
    )


@reword_errors
def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Return whether every leaf is true; True for a tree without leaves."""
    return all(tree_flatten(tree, is_leaf)[0])


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turns an outer tree of inner trees into an inner tree of outer trees.

    With `inner_treedef=None` the inner structure is that of the first inner tree. Raises TypeError,
    with the differences, if the tree has not as many leaves as the two structures require; types
    and metadata of its containers are not compared.
    """
    check_treedef("outer_treedef", outer_treedef)
    if inner_treedef is None:
        inner_treedef = _first_inner(outer_treedef, pytree_to_transpose)
    check_treedef("inner_treedef", inner_treedef)
    leaves, treedef = tree_flatten(pytree_to_transpose, None)
    if len(leaves) != outer_treedef.num_leaves * inner_treedef.num_leaves:
        expected = outer_treedef.compose(inner_treedef)
        lines = "\n  ".join(tree_differences(expected, treedef))
        raise TypeError(
            f"tree_transpose: the tree is not an outer tree {outer_treedef} of inner trees "
            f"{inner_treedef}{here()}:\n  {lines}"
        )
    width = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(leaves[at::width]) for at in range(width)]
    return inner_treedef.unflatten(columns)


def _first_inner(outer_treedef: PyTreeDef, tree: Any) -> PyTreeDef:
    inner_trees = flatten_up_to("tree_transpose", outer_treedef, tree, 2)
    if not inner_trees:
        raise ValueError("tree_transpose: the outer structure has no leaves: pass inner_treedef")
    return tree_structure(inner_trees[0])


def broadcast_prefix(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """For each leaf of `full_tree`, the leaf of `prefix_tree` that it is under.

    Raises ValueError, naming the path and both sides, if the first is not a prefix of the second.
    """
    leaves, treedef = tree_flatten(prefix_tree, is_leaf)
    subtrees = flatten_up_to("tree_broadcast", treedef, full_tree, 2)
    return [
        leaf
        for leaf, subtree in zip(leaves, subtrees, strict=True)
        for _ in range(tree_flatten(subtree, None)[1].num_leaves)
    ]


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree of the structure of `full_tree` whose leaves are those of `prefix_tree` above them.

    `is_leaf` is asked about `prefix_tree`. Raises ValueError as `broadcast_prefix` does.
    """
    leaves = broadcast_prefix(prefix_tree, full_tree, is_leaf)
    return tree_flatten(full_tree, None)[1].unflatten(leaves)


@reword_errors
def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Return whether every item is a leaf by itself."""
    if is_leaf is not None and not callable(is_leaf):
        raise not_callable("is_leaf", is_leaf)
    if is_leaf is None:
        try:
            return _all_leaves(registry, iterable)
        except TypeError:
            raise TypeError(
                f"all_leaves takes an iterable of leaves, got {short_repr(iterable)}{here()}"
            ) from None
    return all(is_leaf(item) or not is_tree_node(type(item)) for item in iterable)


def is_tree_node(typ: Any) -> bool:
    """Return whether instances of exactly this type are containers."""
    return isinstance(typ, type) and registry.is_node(typ)


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """(children, aux) of a container; ValueError for a leaf."""
    return _container(registry.flatten_one_level(tree), tree)


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[KeyEntry, Any]], Any]:
    """([(key, child), ...], aux) of a container; ValueError for a leaf."""
    return _container(children_with_keys(tree), tree)


def _container(result: Any, tree: Any) -> Any:
    if result is None:
        raise ValueError(
            f"can't tree-flatten type: {type(tree)} is a leaf{here()}; register it as a pytree "
            "node if it is a container"
        )
    return result


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    check_treedef("treedef", treedef)
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether the structure is a single node: a leaf, None or an empty container."""
    check_treedef("treedef", treedef)
    return treedef.num_nodes == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of these structures."""
    try:
        return _treedef_tuple(registry, list(treedefs))
    except (TypeError, RuntimeError):
        raise TypeError(
            f"treedef_tuple takes an iterable of structures, got {short_repr(treedefs)}{here()}"
        ) from None


class Partial(functools.partial[Any]):
    """A `functools.partial` that is a container: arguments are children, the function structure.

    The function must be hashable; two Partials match where their functions are equal.
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Partial:
        if not callable(func):
            raise not_callable("func", func)
        # functools.partial would merge a partial it is given, making its arguments leaves too.
        if isinstance(func, functools.partial):
            func = _Opaque(cast("functools.partial[Any]", func))
        return super().__new__(cls, func, *args, **kw)


class _Opaque:
    """A wrapper of a partial function: called, hashed and compared like it, with its attributes."""

    __slots__ = ("opaque",)

    def __init__(self, opaque: functools.partial[Any]) -> None:
        self.opaque = opaque

    def __getattr__(self, name: str) -> Any:
        if name == "opaque" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)  # it is being unpickled, or Python looks for a protocol
        return getattr(self.opaque, name)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.opaque(*args, **kw)

    def __hash__(self) -> int:
        return hash(self.opaque)

    def __eq__(self, other: object) -> bool:
        return self.opaque == (other.opaque if isinstance(other, _Opaque) else other)

    def __repr__(self) -> str:
        return f"opaque({self.opaque!r})"


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_differences",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
