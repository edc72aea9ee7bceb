"""Lowering of collectives over axes of a mesh: each device runs the program on its part.

The groups of devices come from the module's ``parts``, which the lowering of the surrounding
program has set (see ``dovetail_backends.pjrt.partition.Parts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive, describe_source, manual_axis_types

from ...primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    pcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    pvary_p,
    reduce_scatter_p,
)
from ...primitives.ragged_collectives import ragged_all_to_all_p
from .reductions import combiner

_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def _parts(b: Any, axes: Sequence[Any]) -> Any:
    result = b.module.parts
    if result is None or not result.has(axes):
        raise NameError(
            f"a collective over {', '.join(map(repr, axes))}{describe_source(b.source)} is "
            "compiled by itself, where no device is known along that. Compile the function around: "
            "jit(vmap(...)), or jit(shard_map(...))."
        )
    return result


def _pairs(name: str, rows: Sequence[Sequence[int]]) -> str:
    width = len(rows[0]) if rows else 2
    text = ", ".join(f"[{', '.join(map(str, r))}]" for r in rows)
    return f"{name} = dense<[{text}]> : tensor<{len(rows)}x{width}xi64>"


def _rows(b: Any, axes: Sequence[Any], groups: Any) -> list[list[int]]:
    rows = _parts(b, axes).groups(axes)
    if groups:
        rows = [[row[i] for i in group] for row in rows for group in groups]
    return rows


def _among(b: Any, axes: Sequence[Any], groups: Any) -> str:
    return f"{_CHANNEL}, {_pairs('replica_groups', _rows(b, axes, groups))}"


def _reshape(b: Any, x: Any, shape: Sequence[int]) -> Any:
    return b.op("stablehlo.reshape", [x], x.aval.update(shape=tuple(shape)))


def _reduction(primitive: Primitive, kind: str, kind_of_booleans: str) -> None:
    def rule(b: Any, x: Any, *, axes: Any, groups: Any = (), **params: Any) -> Any:
        axes = manual_axis_types.axes_of(axes)
        if all(len(row) == 1 for row in _rows(b, axes, groups)):
            return x  # of two of them, alone with themselves, XLA's CPU compiler makes nonsense
        how = kind_of_booleans if x.aval.dtype.kind == "b" else kind
        attrs = f"{_among(b, axes, groups)}, use_global_device_ids"
        return b.op("stablehlo.all_reduce", [x], b.out, attrs, [combiner(how, x.aval.dtype)])

    stablehlo_rules.set(primitive, rule)


_reduction(psum_p, "sum", "or")
_reduction(psum_invariant_p, "sum", "or")
_reduction(pmax_p, "max", "or")
_reduction(pmin_p, "min", "and")


@stablehlo_rules.register(pvary_p)
@stablehlo_rules.register(pcast_p)
def _as_it_is(b: Any, x: Any, **params: Any) -> Any:
    return x


@stablehlo_rules.register(axis_index_p)
def _axis_index(b: Any, *, axes: Any, axis_sizes: Any) -> Any:
    return _parts(b, axes).index(b, axes[0])


@stablehlo_rules.register(ppermute_p)
def _ppermute(b: Any, x: Any, *, axes: Any, perm: Any, **params: Any) -> Any:
    if not perm:
        return b.broadcast(b.constant(0, b.out.update(shape=())), b.out.shape, ())
    groups = _parts(b, axes).groups(axes)
    pairs = _pairs("source_target_pairs", [[g[s], g[d]] for g in groups for s, d in perm])
    return b.op("stablehlo.collective_permute", [x], b.out, f"{_CHANNEL}, {pairs}")


def _all_gather(b: Any, x: Any, *, axes: Any, axis: int, groups: Any = (), **params: Any) -> Any:
    shape = x.aval.shape
    one = _reshape(b, x, (*shape[:axis], 1, *shape[axis:]))
    attrs = f"all_gather_dim = {axis} : i64, {_among(b, axes, groups)}, use_global_device_ids"
    return b.op("stablehlo.all_gather", [one], b.out, attrs)


stablehlo_rules.set(all_gather_p, _all_gather)
stablehlo_rules.set(all_gather_invariant_p, _all_gather)
stablehlo_rules.set(all_gather_reduced_p, _all_gather)


@stablehlo_rules.register(reduce_scatter_p)
def _reduce_scatter(
    b: Any, x: Any, *, axes: Any, axis: int, groups: Any = (), **params: Any
) -> Any:
    out = b.out
    one = x.aval.update(shape=(*out.shape[:axis], 1, *out.shape[axis:]))
    attrs = f"{_among(b, axes, groups)}, scatter_dimension = {axis} : i64, use_global_device_ids"
    how = [combiner("sum", x.aval.dtype)]
    return _reshape(b, b.op("stablehlo.reduce_scatter", [x], one, attrs, how), out.shape)


@stablehlo_rules.register(all_to_all_p)
def _all_to_all(
    b: Any,
    x: Any,
    *,
    axes: Any,
    axis_sizes: Any,
    split_axis: int,
    concat_axis: int,
    groups: Any = (),
) -> Any:
    attrs = (
        f"concat_dimension = {split_axis} : i64, {_among(b, axes, groups)}, "
        f"split_count = {axis_sizes[0]} : i64, split_dimension = {split_axis} : i64"
    )
    y = b.op("stablehlo.all_to_all", [x], x.aval, attrs)
    order = [d for d in range(len(x.aval.shape)) if d != split_axis]
    order.insert(concat_axis, split_axis)
    moved = x.aval.update(shape=tuple(x.aval.shape[d] for d in order))
    text = f"permutation = array<i64: {', '.join(map(str, order))}>"
    return b.op("stablehlo.transpose", [y], moved, text)


@stablehlo_rules.register(ragged_all_to_all_p)
def _ragged_all_to_all(b: Any, *args: Any, axes: Any, axis_sizes: Any, groups: Any = ()) -> Any:
    if b.platform == "cpu":  # whose compiler lacks it
        params = {"axes": axes, "axis_sizes": axis_sizes, **({"groups": groups} if groups else {})}
        return stablehlo_rules.fallback(ragged_all_to_all_p)(b, *args, **params)
    rows = _parts(b, axes).groups(axes)
    if groups:
        rows = [[row[i] for i in group] for row in rows for group in groups]
    config = f"{{channel_id = 1 : i64, {_pairs('replica_groups', rows)}}}"
    attrs = (
        f'api_version = 4 : i32, backend_config = {config}, call_target_name = "ragged_all_to_all"'
    )
    return b.op("stablehlo.custom_call", list(args), b.out, attrs)
