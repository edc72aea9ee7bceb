"""References as arguments of ``shard_map``: the function has one for each device's part.

What it is to hold goes in and comes out as values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import here, mutable_values, typeof

from .specs import Mapping


def held(mapping: Mapping, leaves: Sequence[Any], name: Callable[[int], str]) -> list[Any]:
    """Arguments with what references hold in their place.

    Raises:
        ValueError: one is passed twice. TypeError: one holds no array.
    """
    from dovetail_refs import AbstractRef, get

    what = f"shard_map of {mapping.name}"
    mutable_values.check_aliases(what, leaves, [name(i) for i in range(len(leaves))])
    result: list[Any] = []
    for i, x in enumerate(leaves):
        aval: Any = typeof(x)
        if aval.is_mutable and not isinstance(aval, AbstractRef):
            raise TypeError(
                f"{what}{here()}: {name(i)} is {aval.str_short()}, which holds no one array. Pass "
                "references (new_ref)."
            )
        result.append(get(x) if aval.is_mutable else x)
    return result


def made(part: Any) -> Any:
    """A reference to what a device has."""
    from dovetail_refs import new_ref

    return new_ref(part)


def frozen(ref: Any) -> Any:
    """What it holds at the end."""
    from dovetail_refs import freeze

    return freeze(ref)


def put(ref: Any, value: Any) -> None:
    """Write what the parts have become."""
    from dovetail_refs import set as write

    write(ref, ..., value)
