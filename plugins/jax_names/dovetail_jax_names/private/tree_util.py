"""``jax._src.tree_util``. orbax: ``flatten_one_level``; flax: ``_registry``, for ``in``, and in its
tests ``prefix_errors``; pickles of tree structures name ``default_registry``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dovetail_core.tree.errors import prefix_differences
from dovetail_core.tree.util import (
    default_registry as default_registry,
    flatten_one_level as flatten_one_level,
    is_tree_node,
    tree_map,
)

from .absent import public


class _Registered:
    """The classes whose values are containers; which, cannot be listed."""

    def __contains__(self, kind: object) -> bool:
        return is_tree_node(kind)


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
