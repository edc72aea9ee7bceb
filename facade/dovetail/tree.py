"""``import dovetail.tree``: the names of dovetail_core.tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_core.tree import (
        all as all,
        broadcast as broadcast,
        flatten as flatten,
        flatten_with_path as flatten_with_path,
        leaves as leaves,
        leaves_with_path as leaves_with_path,
        map as map,
        map_with_path as map_with_path,
        reduce as reduce,
        reduce_associative as reduce_associative,
        static as static,
        structure as structure,
        transpose as transpose,
        unflatten as unflatten,
    )

_WHERE = {
    "all": ("kernel", "dovetail_core.tree:all"),
    "broadcast": ("kernel", "dovetail_core.tree:broadcast"),
    "flatten": ("kernel", "dovetail_core.tree:flatten"),
    "flatten_with_path": ("kernel", "dovetail_core.tree:flatten_with_path"),
    "leaves": ("kernel", "dovetail_core.tree:leaves"),
    "leaves_with_path": ("kernel", "dovetail_core.tree:leaves_with_path"),
    "map": ("kernel", "dovetail_core.tree:map"),
    "map_with_path": ("kernel", "dovetail_core.tree:map_with_path"),
    "reduce": ("kernel", "dovetail_core.tree:reduce"),
    "reduce_associative": ("kernel", "dovetail_core.tree:reduce_associative"),
    "static": ("kernel", "dovetail_core.tree:static"),
    "structure": ("kernel", "dovetail_core.tree:structure"),
    "transpose": ("kernel", "dovetail_core.tree:transpose"),
    "unflatten": ("kernel", "dovetail_core.tree:unflatten"),
}
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

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
