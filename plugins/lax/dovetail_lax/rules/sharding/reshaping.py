"""``reshape``: which dimensions become which, and what divides them then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from dovetail_sharding.types import (
    Application,
    Parts,
    ask_for_out_sharding,
    axes_of,
    infer_rules,
)

from ...primitives.shape import reshape_p

REMEDY = ask_for_out_sharding("lax.reshape(x, sizes, out_sharding=...)")


@infer_rules.register(reshape_p)
def _reshape(
    app: Application, /, *, new_sizes: tuple[int, ...], dimensions: tuple[int, ...] | None = None
) -> Parts:
    shape, parts = app.ins[0].shape, app.parts(0)
    if dimensions is not None:
        shape = tuple([shape[i] for i in dimensions])
        parts = tuple([parts[i] for i in dimensions])
    result: list[Any] = [None] * len(new_sizes)
    for before, after in _groups(shape, new_sizes):
        for d, p in zip(after, _of_group(app, shape, parts, new_sizes, before, after)):
            result[d] = p
    return tuple(result)


def _groups(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The fewest dimensions on both sides that have the same elements; sizes of 1 are nobody's."""
    if 0 in before:
        same = list(before) == list(after)
        yield from [([i], [i]) for i in range(len(before))] if same else ()
        return
    left, right = ([i for i, n in enumerate(s) if n != 1] for s in (before, after))
    while left:
        own, others = [left.pop(0)], [right.pop(0)]
        while (n := prod(before[i] for i in own)) != (m := prod(after[i] for i in others)):
            if n < m:
                own.append(left.pop(0))
            else:
                others.append(right.pop(0))
        yield own, others


def _of_group(
    app: Application, shape: Sequence[int], parts: Parts, sizes: Sequence[int],
    before: list[int], after: list[int],
) -> Sequence[Any]:  # fmt: skip
    given = [axes_of(parts[i]) for i in before]
    if not any(given):
        return [None] * len(after)
    if len(before) == 1 == len(after):
        return given
    merging = len(after) == 1
    divided = [i for i, axes in enumerate(given) if axes]
    if (merging and divided == list(range(len(divided)))) or len(before) == 1:
        axes = [a for own in given for a in own]
        if (result := _spread(app, axes, [sizes[d] for d in after])) is not None:
            return result
    app.refuse(
        f"its sizes {tuple(shape)} become {tuple(sizes)}, and it is not clear what the result is "
        "divided along",
        REMEDY,
    )


def _spread(app: Application, axes: Sequence[Any], sizes: Sequence[int]) -> list[Any] | None:
    """The axes, in order, on dimensions of these sizes, the first ones first."""
    rest, result = list(axes), list[Any]()
    for n in sizes:
        own: list[Any] = []
        while rest and app.fits(n, (*own, rest[0])):
            own.append(rest.pop(0))
        result.append(tuple(own))
        if rest and app.count(tuple(own)) != n:
            return None
    return None if rest else result
