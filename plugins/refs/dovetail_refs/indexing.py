"""Indices of references, split into static parts, a parameter, and dynamic ones, operands.

An index is written as a tuple of items that are hashable and have a text form: ``("int", n)``,
``("slice", start, stop, step)``, ``("new",)``, ``("dots",)``, ``("flag", bool)`` and ``("at", k)``,
the k-th operand (an array of integers). A *chain* of indices is applied one after the other, as in
``ref.at[a].at[b]``; the empty chain means all of the reference.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import (
    Cache,
    HiType,
    NonConcreteBooleanIndexError,
    ShapedArray,
    ShardingTypeError,
    Tracer,
    add_tangents,
    here,
    stage,
    type_shardings,
    typeof,
)

from .types import RefIndexError

_PLAIN = frozenset({int, slice, type(Ellipsis), type(None), bool})


def is_plain(item: Any) -> bool:
    """True if an item of an index is certainly not an array."""
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
            "so that the number of elements is not known. Write "
            "dovetail.numpy.where(mask, new, ref[...]) to all of it."
        )
    return np.asarray(mask)


def integers(mask: np.ndarray[Any, Any]) -> list[Any]:
    """The integers for each axis that a boolean array stands for; a bool if it has no axes."""
    if not mask.ndim:
        return [bool(mask)]
    return [x.astype(np.int32) for x in np.nonzero(mask)]


def check_masks(items: tuple[Any, ...], aval: Any) -> None:
    """Raise IndexError unless boolean arrays have the shape of the axes that they index."""
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
    """The number of axes that an item of an index takes."""
    if mask is not None:
        return mask.ndim
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def spelled_out(index: Any) -> Any:
    """An index with arrays instead of lists and integers instead of boolean arrays, for tracing."""
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


Chain = tuple[tuple[Any, ...], ...]


class Index(NamedTuple):
    """A chain and its operands."""

    chain: Chain
    operands: list[Any]


def encode(aval: Any, indices: Sequence[Any]) -> Index:
    """Indices, applied one after the other to a value of type ``aval``, as a chain.

    Raises:
        IndexError: a static index is out of range, or there are too many; names axis and size.
        TypeError: an item is not an index.
    """
    operands: list[Any] = []
    chain: list[tuple[Any, ...]] = []
    for i, index in enumerate(indices):
        if index is Ellipsis:
            continue
        items = index if isinstance(index, tuple) else (index,)
        if isinstance(aval, HiType):
            raise TypeError(
                f"a reference to a value of type {aval.str_short()} is indexed{here()}: such "
                "values are read and written as a whole, ref[...]"
            )
        if not all(map(is_plain, items)):
            items = tuple([as_array(x) for x in items])  # type: ignore[misc]
            check_masks(items, aval)
        encoded = tuple([x for item in items for x in _item(item, operands)])  # type: ignore[misc]
        if all(x == ("dots",) for x in encoded) and len(encoded) < 2:
            continue
        encoded = _checked(encoded, aval, operands)
        chain.append(encoded)
        if i + 1 < len(indices):
            aval = indexed_type(aval, (encoded,), [typeof(x) for x in operands])
    return Index(tuple(chain), operands)


def _item(item: Any, operands: list[Any]) -> list[tuple[Any, ...]]:
    if item is None:
        return [("new",)]
    if item is Ellipsis:
        return [("dots",)]
    if isinstance(item, slice):
        return [("slice", _bound(item.start), _bound(item.stop), _bound(item.step))]
    if isinstance(item, (bool, np.bool_)):
        return [("flag", bool(item))]
    if isinstance(item, (int, np.integer)):
        return [("int", int(item))]
    return _array(item, operands)


def _bound(v: Any) -> int | None:
    return None if v is None else operator.index(v)


def _array(item: Any, operands: list[Any]) -> list[tuple[Any, ...]]:
    try:
        aval: Any = typeof(item)
    except TypeError:
        aval = None
    kind = aval.dtype.kind if isinstance(aval, ShapedArray) else "?"
    if kind == "b":
        mask = known_mask(item)
        assert mask is not None
        if not mask.ndim:
            return [("flag", bool(mask))]
        result = integers(mask)
    elif kind in "iu":
        result = [item.astype(np.int32) if isinstance(item, np.ndarray) else item]
    else:
        shown = aval.str_short() if aval is not None else f"{item!r} of type {type(item).__name__}"
        raise TypeError(
            f"a reference is indexed by {shown}{here()}: an index is "
            "made of integers, slices, None, Ellipsis and arrays of integers or booleans"
        )
    items: list[tuple[Any, ...]] = []
    for x in result:
        items.append(("at", len(operands)))
        operands.append(x)
    return items


def _checked(items: tuple[Any, ...], aval: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The items with non-negative static integers.

    Raises:
        IndexError: one is out of range, or there are too many.
    """
    taken = sum(x[0] in ("int", "slice", "at") for x in items)
    if taken > aval.ndim:
        raise RefIndexError(
            f"too many indices{here()}: {taken} for a reference of type "
            f"{aval.str_short()}, which has {aval.ndim} axes"
        )
    axis = 0
    out: list[Any] = []
    for item in items:
        kind = item[0]
        if kind == "int":
            out.append(("int", _in_range(item[1], axis, aval)))
        else:
            if kind == "at":
                _check_array(operands[item[1]], axis, aval)
            out.append(item)
        axis += aval.ndim - taken if kind == "dots" else kind in ("int", "slice", "at")
    return tuple(out)


def _in_range(n: int, axis: int, aval: Any) -> int:
    size = aval.shape[axis]
    if not -size <= n < size:
        raise RefIndexError(
            f"index {n} is out of range{here()}: axis {axis} of a "
            f"reference of type {aval.str_short()} has length {size}"
        )
    return n % size


def _check_array(x: Any, axis: int, aval: Any) -> None:
    """Check integers of NumPy arrays; those on devices are not fetched."""
    if isinstance(x, np.ndarray) and x.size:
        for n in (int(x.min()), int(x.max())):
            _in_range(n, axis, aval)


def decode(items: tuple[Any, ...], operands: Sequence[Any]) -> tuple[Any, ...]:
    """One encoded index as Python's."""
    make = {
        "int": lambda n: n,
        "slice": slice,
        "new": lambda: None,
        "dots": lambda: Ellipsis,
        "flag": lambda b: b,
        "at": lambda k: operands[k],
    }
    return tuple([make[kind](*rest) for kind, *rest in items])


def with_integer_operands(index: Index) -> Index:
    """The index with static integers as operands, so that one program serves all indices."""
    operands = list(index.operands)
    chain: list[tuple[Any, ...]] = []
    for items in index.chain:
        out: list[Any] = []
        for item in items:
            if item[0] == "int":
                out.append(("at", len(operands)))
                operands.append(np.int32(item[1]))
            else:
                out.append(item)
        chain.append(tuple(out))
    return Index(tuple(chain), operands)


def read(x: Any, chain: Chain, operands: Sequence[Any]) -> Any:
    """``x[chain]``; if its sharding is ambiguous, the compiler chooses it."""

    def at(x: Any) -> Any:
        for items in chain:
            x = x[decode(items, operands)]
        return x

    try:
        return at(x)
    except ShardingTypeError:
        return at(*type_shardings.without_shardings([x]))


def write(x: Any, chain: Chain, operands: Sequence[Any], value: Any) -> Any:
    """``x`` with ``value``, of the type of ``x`` at the index, at the index; sharded like ``x``."""
    return _update(x, chain, operands, value, lambda at, v: at.set(v), lambda old, v: v)


def accumulate(x: Any, chain: Chain, operands: Sequence[Any], value: Any) -> Any:
    """``x`` with ``value`` added at the index; elements indexed repeatedly receive the sum."""
    return _update(x, chain, operands, value, lambda at, v: at.add(v), add_tangents)


def _update(
    x: Any, chain: Chain, operands: Sequence[Any], value: Any, at_last: Any, replace_all: Any
) -> Any:
    def changed(x: Any, chain: Chain, value: Any) -> Any:
        if not chain:
            return replace_all(x, value)
        index = decode(chain[0], operands)
        if len(chain) == 1:
            return at_last(x.at[index], value)
        return x.at[index].set(changed(x[index], chain[1:], value))

    aval: Any = typeof(x)
    if getattr(aval, "divided", None) is None:
        return changed(x, chain, *type_shardings.without_shardings([value]))
    try:
        result = changed(x, chain, value)
    except ShardingTypeError:
        plain, given = type_shardings.without_shardings([x, value])
        result = changed(plain, chain, given)
    return type_shardings.like_type(result, aval, typeof(result))


def indexed_type(aval: Any, chain: Chain, operands: Sequence[Any]) -> ShapedArray:
    """The type of ``x[chain]`` for a value of type ``aval`` and operands of given types."""
    if not chain:
        return aval.strong()
    jaxpr, _ = stage(lambda x, *ops: [read(x, chain, ops)], [aval, *operands], "index")
    result: Any = jaxpr.out_avals[0]
    return result.strong()


_types: Cache[Any, ShapedArray] = Cache()


def indexed_type_of(aval: ShapedArray, chain: Any, operands: Any) -> ShapedArray:
    """The type of a value at an index; cached."""
    if not chain:
        return aval
    key = aval, chain, tuple([typeof(x) for x in operands])
    result = _types.get(key)
    if result is None:
        result = _types[key] = indexed_type(*key)
    return result
