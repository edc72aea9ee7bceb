"""Boolean arrays as indices of references: checked, and as the integers that they mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import NonConcreteBooleanIndexError, Tracer, here

_PLAIN = frozenset({int, slice, type(Ellipsis), type(None), bool})


def is_plain(item: Any) -> bool:
    """Whether an item of an index is certainly no array."""
    return type(item) in _PLAIN


def as_array(item: Any) -> Any:
    """An item of an index, a list as an array."""
    if isinstance(item, list):
        return np.asarray(item) if item else np.zeros(0, np.int32)
    return item


def known_mask(item: Any) -> np.ndarray[Any, Any] | None:
    """The boolean array that an item of an index is, or None if it is something else.

    Raises:
        NonConcreteBooleanIndexError: it is traced, so that its elements are not known.
    """
    if getattr(getattr(item, "dtype", None), "kind", "") != "b":
        return None
    mask = item.concrete() if isinstance(item, Tracer) else item
    if mask is None:
        raise NonConcreteBooleanIndexError(
            f"a reference is indexed by a traced boolean array{here()}, "
            "so that it is not known how many elements are meant. Write "
            "dovetail.numpy.where(mask, new, ref[...]) to all of it."
        )
    return np.asarray(mask)


def integers(mask: np.ndarray[Any, Any]) -> list[Any]:
    """What a boolean array means as an index: integers for each axis; a bool if it has none."""
    if not mask.ndim:
        return [bool(mask)]
    return [x.astype(np.int32) for x in np.nonzero(mask)]


def check_masks(items: tuple[Any, ...], aval: Any) -> None:
    """Raise IndexError unless boolean arrays have the shape of the axes that they stand for."""
    masks = [known_mask(item) for item in items]
    widths = [_width(item, mask) for item, mask in zip(items, masks)]
    axis = 0
    for item, mask, width in zip(items, masks, widths):
        if item is Ellipsis:
            width = aval.ndim - sum(widths)
        elif mask is not None and mask.shape != aval.shape[axis : axis + width]:
            raise IndexError(
                f"a reference of type {aval.str_short()} is indexed by a boolean array of shape "
                f"{mask.shape}{here()}: from axis {axis} on, its shape is {aval.shape[axis:]}"
            )
        axis += width


def _width(item: Any, mask: Any) -> int:
    """How many axes an item of an index takes."""
    if mask is not None:
        return mask.ndim
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def spelled_out(index: Any) -> Any:
    """An index with arrays for lists and integers for boolean arrays, fit to be traced."""
    items = [as_array(x) for x in (index if isinstance(index, tuple) else (index,))]
    if all(map(is_plain, items)):
        return index
    masks = [known_mask(item) for item in items]
    return tuple(
        [
            x
            for item, mask in zip(items, masks)
            for x in ([item] if mask is None else integers(mask))
        ]
    )
