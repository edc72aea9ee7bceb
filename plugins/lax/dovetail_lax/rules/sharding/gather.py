"""Gather, scatter, and windows that slide over arrays."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from dovetail_sharding.types import (
    Application,
    Parts,
    ask_for_out_sharding,
    axes_of,
    infer_rules,
    same,
    undivided_along,
)

from ...primitives import gather as g, windows as w
from ...primitives.gather import ScatterDimensionNumbers, as_gather, window_sizes
from ...primitives.indexing import GatherDimensionNumbers, window_axes

READING = ask_for_out_sharding("x.at[...].get(out_sharding=...)")
WRITING = ask_for_out_sharding("x.at[...].set(y, out_sharding=...), and so add, mul, ...")


@infer_rules.register(g.gather_p)
def _gather(
    app: Application, /, *, dimension_numbers: GatherDimensionNumbers, slice_sizes: tuple[int, ...],
    **params: Any,
) -> Parts:  # fmt: skip
    dn, operand, indices = dimension_numbers, app.parts(0), app.parts(1)
    _check_undivided_windows(app, dn, operand, slice_sizes, READING)
    reduced = app.reduced(0)  # what is divided along these is a sum in the cotangent
    positions = _index_parts(app, dn, operand, indices, READING, reduced)
    windows = iter([operand[i] for i in window_axes(dn, len(operand))])
    rest = iter(positions)
    ndim = app.outs[0].ndim
    return tuple([next(windows) if i in dn.offset_dims else next(rest) for i in range(ndim)])


def _check_undivided_windows(
    app: Application, dn: GatherDimensionNumbers, operand: Parts, sizes: Sequence[int], remedy: str
) -> None:
    for d, p in enumerate(operand):
        if p is None or d in dn.operand_batching_dims:
            continue
        if sizes[d] != app.ins[0].shape[d] or d in dn.collapsed_slice_dims:
            app.refuse(
                f"dimension {d} of the operand is divided along {p!r}, and the indices say which "
                "of its elements are used",
                remedy,
            )


def _index_parts(
    app: Application, dn: GatherDimensionNumbers, operand: Parts, indices: Parts, remedy: str,
    reduced: Set[Any] = frozenset(), summed: Sequence[Any] = (),
) -> list[Any]:  # fmt: skip
    """The divisions of the dimensions of the indices but the last.

    Args:
        reduced: axes that may divide them although they do not divide the operand.
        summed: what divides the same dimensions of updates that are added up.
    """
    paired = dict(zip(dn.start_indices_batching_dims, dn.operand_batching_dims))
    result: list[Any] = []
    for i, p in enumerate(indices):
        if i in paired:
            p = app.merged(f"the batch dimension {i}", [p, operand[paired[i]]])
        elif p is not None and not set(axes_of(p)) <= reduced:
            along = axes_of(p) if p in summed[i : i + 1] else ()
            app.refuse(
                f"dimension {i} of the indices is divided along {p!r}", remedy, along, operand
            )
        result.append(p)
    return result[:-1]


def _scatter(
    app: Application, /, *, dimension_numbers: ScatterDimensionNumbers, **params: Any
) -> Parts:
    dn, (operand, indices, updates) = as_gather(dimension_numbers), app.all_parts
    sizes = window_sizes(app.ins[0].shape, app.ins[2].shape, dimension_numbers)
    _check_undivided_windows(app, dn, operand, sizes, WRITING)
    own = [p for i, p in enumerate(updates) if i not in dn.offset_dims]
    pairs = zip(dn.start_indices_batching_dims, dn.operand_batching_dims)
    batch = {
        d: app.merged(f"the batch dimension {d}", [operand[d], indices[i], own[i]])
        for i, d in pairs
    }
    operand = tuple([batch.get(d, p) for d, p in enumerate(operand)])
    summed = own if app.name == g.scatter_add_p.name else ()
    positions = iter(_index_parts(app, dn, operand, indices, WRITING, summed=summed))
    windows = iter(window_axes(dn, len(operand)))
    for i, p in enumerate(updates):
        own = operand[next(windows)] if i in dn.offset_dims else next(positions)
        if p is not None and p != own:
            app.refuse(f"dimension {i} of the updates is divided along {p!r}, not {own!r}", WRITING)
    return operand


for _p in (
    g.scatter_p, g.scatter_add_p, g.scatter_sub_p, g.scatter_mul_p, g.scatter_min_p,
    g.scatter_max_p, g.scatter_apply_p,
):  # fmt: skip
    infer_rules.set(_p, _scatter)


for _p in (
    w.reduce_window_sum_p, w.reduce_window_max_p, w.reduce_window_min_p, w.reduce_window_prod_p,
):  # fmt: skip
    infer_rules.set(_p, same)


@infer_rules.register(w.reduce_window_p)
def _reduce_window(app: Application, /, **params: Any) -> list[Parts]:
    return [app.parts(0)] * len(app.outs)


def _selecting(app: Application, /, *, window_dimensions: tuple[int, ...], **params: Any) -> Parts:
    """XLA's partitioner is wrong about windows that lie in two parts."""
    windows = [d for d, n in enumerate(window_dimensions) if n > 1]
    for i in (0, 1):
        undivided_along(app, windows, i)
    both = zip(app.parts(0), app.parts(1))
    return tuple([app.merged(f"dimension {d}", pair) for d, pair in enumerate(both)])


infer_rules.set(w.select_and_scatter_add_p, _selecting)
infer_rules.set(w.select_and_gather_add_p, _selecting)
