"""Lowering of functions with custom partitioning: calls, and the functions by which XLA divides
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from dovetail_backends import Attribute, i32, lower_module, stablehlo_rules, tensor_type
from dovetail_batching import vmap
from dovetail_core import ClosedJaxpr, ShapedArray, WeakTable, bound_axis, stage_closed
from dovetail_jit import ShapeDtypeStruct
from dovetail_tree.util import tree_flatten, tree_leaves, tree_unflatten
from dovetail_xla import ffi, mlir
from dovetail_xla.shardings import HloSharding, sharding_of_tuple

from ..meshes import Mesh
from ..rules.backends import MeshParts
from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of
from .function import custom_partitioning_p
from .rule import SdyShardingRule, parsed, spelled

TARGET = "CustomSPMDPartitioning"
Level = tuple[tuple[bool, ...], tuple[bool, ...]]


class _Entry:
    """A call in a module, with the data needed once XLA has chosen shardings."""

    def __init__(self, grid: Any, platform: str, params: dict[str, Any], avals: Any) -> None:
        self.grid, self.platform, self.params, self.avals = grid, platform, params, avals
        self.key = uuid4().hex  # in the module's text: no other process may have it


_entries: WeakValueDictionary[str, _Entry] = WeakValueDictionary()
_of_program: WeakTable[list[_Entry]] = WeakTable(
    permanent="modules that are there name their entries"
)
_registered: list[str] = []


@stablehlo_rules.register(custom_partitioning_p)
def _custom_partitioning(b: Any, *operands: Any, call: ClosedJaxpr, **params: Any) -> Any:
    partition = b.module.partition
    if partition is None or b.module.parts is not None:
        return b.inline(call, operands)
    if not _registered:
        ffi.register_partitioner(TARGET, _propagated, _partitioned, _inferred)
        _registered.append(TARGET)
    ins, outs = [x.aval for x in operands], list(b.outs)
    entry = _Entry(partition.grid, b.platform, params, (ins, outs))
    _of_program.of(call, list).append(entry)  # it lives as long as the program
    _entries[entry.key] = entry
    attributes: dict[str, Any] = {
        "call_target_name": TARGET, "api_version": i32(2), "backend_config": entry.key,
    }  # fmt: skip
    rule = _rule(params, partition.grid.mesh, ins, outs)
    notes: dict[str, Any] = {}
    if rule is not None:
        shapes = [a.shape for a in ins], [a.shape for a in outs]
        notes["sdy.sharding_rule"] = Attribute(spelled(rule, *shapes, params["mapped"]))
    return b.op("stablehlo.custom_call", operands, outs, attributes, notes=notes)


def _rule(params: dict[str, Any], mesh: Any, ins: Any, outs: Any) -> SdyShardingRule | None:
    rule = params["sharding_rule"]
    if rule is None or isinstance(rule, SdyShardingRule):
        return rule
    types = [
        [mlir.type_of(tensor_type(a.update(shape=s))) for a, s in zip(avals, shapes)]
        for avals, shapes in zip((ins, outs), _inner_shapes(params["mapped"], ins, outs))
    ]
    result = rule(*params["static_args"], mesh, *types)
    return parsed(result, {}, {}) if isinstance(result, str) else result


def _inner_shapes(mapped: Sequence[Level], ins: Any, outs: Any) -> list[list[tuple[int, ...]]]:
    """The shapes without the axes of ``vmap``."""
    return [
        [a.shape[sum(level[side][i] for level in mapped) :] for i, a in enumerate(avals)]
        for side, avals in enumerate((ins, outs))
    ]


def _shardings(entry: _Entry, given: Sequence[HloSharding], avals: Sequence[Any]) -> list[Any]:
    """Shardings for ``partition`` functions: specs have an entry for each dimension."""
    result: list[Any] = []
    for h, a in zip(given, avals):
        s = entry.grid.sharding_of(h, len(a.shape))
        if isinstance(s, NamedSharding):
            own = s.spec.partitions  # type: ignore[attr-defined]
            rest = [None] * (len(a.shape) - len(own))
            s = s.update(spec=PartitionSpec(*own, *rest))  # type: ignore[attr-defined]
        result.append(s)
    return result


def _partitioned(
    arg_shapes: Any, arg_shardings: Any, shape: Any, sharding: Any, key: bytes
) -> tuple[bytes, list[HloSharding], HloSharding]:
    """The program of one device, as MLIR, and the shardings of arguments and of the result."""
    entry = _entries[key.decode()]
    ins, outs = entry.avals
    results = sharding.tuple_elements() if shape.is_tuple() else [sharding]
    structs = [
        [ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in zip(avals, result)]
        for avals, result in (
            (ins, _shardings(entry, arg_shardings, ins)),
            (outs, _shardings(entry, results, outs)),
        )
    ]
    mapped = list(entry.params["mapped"])
    mesh, function, given, returned = _partition_result(entry, mapped, *structs)
    parts = [_part(a, s) for a, s in zip(ins, given)]
    text = _lowered(entry, mesh, function, parts, [_part(a, s) for a, s in zip(outs, returned)])
    hlo = [s._to_xla_hlo_sharding(len(a.shape)) for s, a in zip(returned, outs)]
    hlo_result = sharding_of_tuple(shape, hlo) if shape.is_tuple() else hlo[0]
    args = [s._to_xla_hlo_sharding(len(a.shape)) for s, a in zip(given, ins)]
    return text, args, hlo_result


def _partition_result(
    entry: _Entry, mapped: list[Level], ins: Any, outs: Any
) -> tuple[Any, Any, Any, Any]:
    """The mesh, a function of flat parts, and the shardings of arguments and results."""
    params = entry.params
    if mapped:
        return _partition_result_of_elements(entry, mapped, ins, outs)
    in_tree, out_tree = params["in_tree"], params["out_tree"]
    answer = params["partition"](
        *params["static_args"], entry.grid.mesh, tree_unflatten(in_tree, ins),
        tree_unflatten(out_tree, outs),
    )  # fmt: skip
    if not isinstance(answer, tuple) or len(answer) != 4:  # pyright: ignore
        raise ValueError(
            "partition of a custom_partitioning must return a tuple of the mesh, a function, the "
            f"shardings of its results and those of its arguments, and returned {answer!r}."
        )
    mesh, lower_fn, returned, given = answer

    def flat(*xs: Any) -> list[Any]:
        return tree_flatten(lower_fn(*tree_unflatten(in_tree, xs)))[0]

    is_leaf = lambda x: isinstance(x, NamedSharding)  # noqa: E731
    return mesh, flat, tree_leaves(given, is_leaf=is_leaf), tree_leaves(returned, is_leaf=is_leaf)


def _partition_result_of_elements(entry: _Entry, mapped: list[Level], ins: Any, outs: Any) -> Any:
    """:func:`_partition_result` of the elements along the axis of the outermost ``vmap``."""
    *rest, (batched, made) = mapped
    flags = (*batched, *made)
    inner = [_element(x) if is_batched else x for x, is_batched in zip((*ins, *outs), flags)]
    split = inner[: len(ins)], inner[len(ins) :]
    mesh, function, given, returned = _partition_result(entry, rest, *split)
    shardings = (*given, *returned)
    used = {a for s in shardings for p in s.spec for a in axes_of(p)}
    leading = next(x.sharding.spec for x, is_batched in zip((*ins, *outs), flags) if is_batched)
    axes = tuple([a for a in axes_of(leading[0] if leading else None) if a not in used])
    result = [
        s.update(spec=s.spec.update(partitions=(axes, *s.spec.partitions))) if is_batched else s
        for s, is_batched in zip(shardings, flags)
    ]
    over = vmap(function, in_axes=tuple([0 if f else None for f in batched]), out_axes=0)
    return mesh, over, result[: len(ins)], result[len(ins) :]


def _element(x: Any) -> Any:
    spec = x.sharding.spec
    sharding = x.sharding.update(spec=spec.update(partitions=spec.partitions[1:]))
    return ShapeDtypeStruct(x.shape[1:], x.dtype, sharding=sharding)


def _part(aval: Any, sharding: Any) -> ShapedArray:
    return ShapedArray(sharding.shard_shape(aval.shape), aval.dtype)


def _lowered(entry: _Entry, mesh: Any, function: Any, ins: Any, outs: Any) -> bytes:
    names: Sequence[Any] = mesh.axis_names if isinstance(mesh, Mesh) else ()

    def within(*parts: Any) -> list[Any]:
        return function(*parts)

    scopes = [bound_axis(n, mesh.shape[n], manual=True, checked=False) for n in names]
    for scope in scopes:
        scope.__enter__()
    try:
        program = stage_closed(within, ins, "partition")
    finally:
        for scope in reversed(scopes):
            scope.__exit__(None, None, None)
    result = [(a.shape, a.dtype) for a in program.out_avals]  # type: ignore[attr-defined]
    wanted = [(a.shape, a.dtype) for a in outs]
    if result != wanted:
        raise ValueError(
            f"the function that partition returned gives parts of types {program.out_avals}, and "
            f"by the shardings of its results they are of types {outs}."
        )
    ids = tuple(range(mesh.size))
    parts = MeshParts(mesh.abstract_mesh, tuple(names), ids) if names else None
    module = lower_module(program, entry.platform, "partition", keep_unused=True, parts=parts)
    if module.const_args:
        raise ValueError(
            "the function that partition returned closes over an array that is too large to be "
            "part of a program: pass it as an argument."
        )
    return mlir.bytecode_on_any_thread(module.text)


def _inferred(arg_shapes: Any, arg_shardings: Any, shape: Any, key: bytes) -> HloSharding:
    return _unknown(shape)


def _propagated(sharding: HloSharding, shape: Any, key: bytes) -> HloSharding:
    return sharding


def _unknown(shape: Any) -> HloSharding:
    if not shape.is_tuple():
        return HloSharding.replicate()
    hlo_result = [HloSharding.replicate() for _ in shape.tuple_shapes()]
    return sharding_of_tuple(shape, hlo_result)
