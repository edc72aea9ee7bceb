"""Rearranging, cutting and joining arrays, and arrays made of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from dovetail_sharding.types import (
    Application,
    Parts,
    ask_for_out_sharding,
    axes_of,
    each,
    elementwise,
    infer_rules,
    nowhere,
    same,
    undivided_along,
    without,
)

from ...primitives.fft import fft_p
from ...primitives.rng import rng_bit_generator_p, rng_uniform_p
from ...primitives.shape import (
    broadcast_in_dim_p,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    transpose_p,
)
from ...primitives.taken import taken_p
from ...primitives.values import (
    bitcast_convert_type_p,
    dce_sink_p,
    optimization_barrier_p,
    select_n_p,
)

INDEXING = (
    "Cut along another dimension, give the result's division with "
    "x.at[...].get(out_sharding=...), or move the operand first "
    "(dovetail.sharding.reshard(x, spec))."
)

WRITING = ask_for_out_sharding("x.at[...].set(y, out_sharding=...)")

for _p in (rev_p, fft_p):
    infer_rules.set(_p, same)
for _p in (dce_sink_p,):
    infer_rules.set(_p, nowhere)
infer_rules.set(optimization_barrier_p, each)


@infer_rules.register(taken_p)
def _taken(app: Application, /, **params: Any) -> list[Parts]:
    return list(app.all_parts[1:])


@infer_rules.register(rng_bit_generator_p)
def _rng_bit_generator(app: Application, /, **params: Any) -> list[Parts]:
    return [app.parts(0), (None,) * app.outs[1].ndim]


@infer_rules.register(rng_uniform_p)
def _rng_uniform(app: Application, /, **params: Any) -> Parts:
    return (None,) * app.outs[0].ndim


@infer_rules.register(transpose_p)
def _transpose(app: Application, /, *, permutation: tuple[int, ...]) -> Parts:
    parts = app.parts(0)
    return tuple([parts[i] for i in permutation])


@infer_rules.register(squeeze_p)
def _squeeze(app: Application, /, *, dimensions: tuple[int, ...]) -> Parts:
    return without(app.parts(0), dimensions)


@infer_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim(
    app: Application, /, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> Parts:
    result: list[Any] = [None] * len(shape)
    for i, (d, p) in enumerate(zip(broadcast_dimensions, app.parts(0))):
        if app.ins[0].shape[i] == shape[d]:
            result[d] = p
    return tuple(result)


def _cut(app: Application, /, **params: Any) -> Parts:
    """A dimension that is divided stays so where the parts of the cut are equally large."""
    parts = app.parts(0)
    for d, (n, p) in enumerate(zip(app.outs[0].shape, parts)):
        if p is not None and not app.fits(n, p):
            app.refuse(
                f"of dimension {d}, which is divided along {p!r}, {n} elements are left, which "
                f"make no {app.count(p)} equally large parts",
                INDEXING,
            )
    return parts


for _p in (slice_p, dynamic_slice_p, pad_p):
    infer_rules.set(_p, _cut)


@infer_rules.register(split_p)
def _split(app: Application, /, **params: Any) -> list[Parts]:
    return [app.parts(0)] * len(app.outs)


@infer_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice(app: Application, /) -> Parts:
    operand, update, *_ = app.all_parts
    for d, (p, own) in enumerate(zip(operand, update)):
        covers = app.ins[0].shape[d] == app.ins[1].shape[d]
        if own != p and not (own is None and covers):
            app.refuse(
                f"dimension {d} of the update must be divided as that of the operand is, along "
                f"{p!r}, and is along {own!r}",
                WRITING,
            )
    return operand


@infer_rules.register(select_n_p)
def _select_n(app: Application, /) -> Parts:
    cases = {p for p in app.all_parts[1:] if any(p)}
    if len(cases) > 1:
        app.refuse("its cases are divided in different ways")
    return elementwise(app)


@infer_rules.register(concatenate_p)
def _concatenate(app: Application, /, *, dimension: int) -> Parts:
    parts = app.parts(0)
    if any(p != parts for p in app.all_parts):
        app.refuse("operands that are put together must be divided in the same way")
    return parts


@infer_rules.register(bitcast_convert_type_p)
def _bitcast(app: Application, /, **params: Any) -> Parts:
    parts, ndim = app.parts(0), app.outs[0].ndim
    if ndim < len(parts):
        undivided_along(app, (ndim,))
        return parts[:ndim]
    return (*parts, None)[:ndim]


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
    """The fewest dimensions on both sides that have the same elements, without those of size 1."""
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
