"""Pytrees, with the short names of their functions: `tree.map` for `tree_util.tree_map`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dovetail_base.wrapping import alias

from .util import (
    tree_all,
    tree_broadcast,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

all = alias(tree_all, "all", __name__)
broadcast = alias(tree_broadcast, "broadcast", __name__)
flatten = alias(tree_flatten, "flatten", __name__)
flatten_with_path = alias(tree_flatten_with_path, "flatten_with_path", __name__)
leaves = alias(tree_leaves, "leaves", __name__)
leaves_with_path = alias(tree_leaves_with_path, "leaves_with_path", __name__)
map = alias(tree_map, "map", __name__)
map_with_path = alias(tree_map_with_path, "map_with_path", __name__)
reduce = alias(tree_reduce, "reduce", __name__)
reduce_associative = alias(tree_reduce_associative, "reduce_associative", __name__)
structure = alias(tree_structure, "structure", __name__)
transpose = alias(tree_transpose, "transpose", __name__)
unflatten = alias(tree_unflatten, "unflatten", __name__)


def static(**kwargs: Any) -> Any:
    """A dataclass field that belongs to the structure: `dataclasses.field` with that mark.

    A key `static` in the given metadata precedes: `static(metadata={"static": False})` is data.
    """
    given: Mapping[Any, Any] = kwargs.pop("metadata", None) or {}
    metadata = {"static": True, **given}
    return dataclasses.field(metadata=metadata, **kwargs)
