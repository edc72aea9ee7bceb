"""The short names of the pytree functions: `tree.map` for `tree_util.tree_map`, and so on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .util import (
    tree_all as all,
    tree_broadcast as broadcast,
    tree_flatten as flatten,
    tree_flatten_with_path as flatten_with_path,
    tree_leaves as leaves,
    tree_leaves_with_path as leaves_with_path,
    tree_map as map,
    tree_map_with_path as map_with_path,
    tree_reduce as reduce,
    tree_reduce_associative as reduce_associative,
    tree_structure as structure,
    tree_transpose as transpose,
    tree_unflatten as unflatten,
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


def static(**kwargs: Any) -> Any:
    """A dataclass field that belongs to the structure: `dataclasses.field` with that mark.

    Metadata that say `static` themselves hold: `static(metadata={"static": False})` is data.
    """
    given: Mapping[Any, Any] = kwargs.pop("metadata", None) or {}
    metadata = {"static": True, **given}
    return dataclasses.field(metadata=metadata, **kwargs)
