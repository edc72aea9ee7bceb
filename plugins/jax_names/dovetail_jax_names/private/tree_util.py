"""``jax._src.tree_util``. orbax: ``flatten_one_level``; flax: ``_registry``, for ``in``, and in its
tests ``prefix_errors``; jaxlie: ``_registry[C].to_iter`` and ``from_iter``; pickles of tree
structures name ``default_registry``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from dovetail_tree.errors import prefix_differences
from dovetail_tree.registry import node_functions
from dovetail_tree.util import (
    PyTreeDef,
    default_registry as default_registry,
    flatten_one_level as flatten_one_level,
    is_tree_node,
    tree_map,
    tree_structure,
    tree_unflatten,
)

from ..absent_names import public


class _RegistryEntry(NamedTuple):
    """The flattening of a container, ``to_iter(x) -> (children, aux)``, and its inverse."""

    to_iter: Callable[[Any], tuple[Iterable[Any], Any]]
    from_iter: Callable[[Any, Iterable[Any]], Any]


class _Registered(Mapping[type, _RegistryEntry]):
    """The classes whose values are containers, with their functions."""

    def __contains__(self, kind: object) -> bool:
        return is_tree_node(kind)

    def __getitem__(self, kind: type) -> _RegistryEntry:
        if not is_tree_node(kind):
            raise KeyError(kind)
        return _RegistryEntry(flatten_one_level, partial(_made, kind))

    def __iter__(self) -> Iterator[type]:
        return iter((tuple, list, dict, type(None), *node_functions))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _made(kind: type, aux: Any, children: Iterable[Any]) -> Any:
    """A container of these children; what they contain is not looked into."""
    values = list(children)
    leaves = [tree_structure(0)] * len(values)
    made = PyTreeDef.from_node_data_and_children(default_registry, (kind, aux), leaves)
    return tree_unflatten(made, values)


_registry = _Registered()


def prefix_errors(
    prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[Callable[[str], ValueError]]:
    """Why one tree is no prefix of another: functions from the argument's name to an error."""
    if is_leaf is not None:
        prefix_tree = tree_map(lambda x: 0, prefix_tree, is_leaf=is_leaf)
    return [partial(_error, line) for line in prefix_differences(prefix_tree, full_tree)]


def _error(line: str, name: str) -> ValueError:
    """The error of a line ``at PATH: ...``, the path beginning with a name."""
    where, _, what = line.partition(": ")
    path = "" if where == "at the root" else where.removeprefix("at ")
    return ValueError(f"pytree structure error: different types at key path {name}{path}: {what}")


def __getattr__(name: str) -> Any:
    return public("jax._src.tree_util", name)
