"""Lowering of ``shard_map``: to Shardy's ``manual_computation``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ClosedJaxpr, ShapedArray, Var, describe_source, with_leading

from ..constraints import shard_alike_p
from ..manual.primitives import (
    from_parts_p,
    one_of_parts_p,
    shard_map_p,
    stacked_over,
    to_parts_p,
)
from ..meshes import Mesh
from ..shardy import NamedSharding, attributes_of, sharding_text
from ..specs import PartitionSpec, axes_of
from ..types.resharding import left_unreduced_p, reshard_p


class MeshParts(NamedTuple):
    """A manual region along some axes of a mesh (see ``Parts`` of the plugin backends)."""

    mesh: Any
    axes: tuple[Any, ...]
    ids: tuple[int, ...]

    def has(self, axes: Sequence[Any]) -> bool:
        return set(axes) <= set(self.axes)

    def has_all(self) -> bool:
        return self.has(self.mesh.axis_names)

    def groups(self, axes: Sequence[Any]) -> list[list[int]]:
        names = self.mesh.axis_names
        own = [names.index(a) for a in axes]
        grid = np.asarray(self.ids).reshape(self.mesh.axis_sizes)
        rest = [i for i in range(len(names)) if i not in own]
        size = int(np.prod([self.mesh.shape[a] for a in axes], dtype=int))
        return grid.transpose([*rest, *own]).reshape(-1, size).tolist()

    def index(self, b: Any, axis: Any) -> Any:
        free = self._free()
        if not free or not _is_divided(b):
            return self._index(b, axis)
        out = b.out
        text = b.region([], lambda b: [self._index(b, axis)], "sdy.return", True)
        undivided = sharding_text(self.mesh, [], 0, ())
        attributes = attributes_of([], [undivided], self.mesh, free)
        return b.op("sdy.manual_computation", [], out, attributes, [text])

    def on_first(self, b: Any, operands: Sequence[Any], emit: Callable[..., Any]) -> None:
        free = self._free()

        def effect(b: Any, xs: Sequence[Any]) -> list[Any]:
            emit(b, *xs)
            return []

        def body(b: Any, *xs: Any) -> list[Any]:
            number = ShapedArray((), np.dtype(np.int32))
            at = b.constant(0, number)
            for axis in free:
                b.outs = (number,)
                at = b.op("stablehlo.maximum", [at, self._index(b, axis)], number)
            branches = [b.region([], lambda b: effect(b, xs)), b.region([], lambda b: [])]
            return b.op("stablehlo.case", [at], [], "", branches)

        avals = [x.aval for x in operands]
        undivided = [sharding_text(self.mesh, [], len(a.shape), free) for a in avals]
        region = b.region(avals, body, "sdy.return", True)
        b.op(
            "sdy.manual_computation",
            operands,
            [],
            attributes_of(undivided, [], self.mesh, free),
            [region],
        )

    def _free(self) -> list[Any]:
        """The axes that are not manual."""
        return [a for a in self.mesh.axis_names if a not in self.axes]

    def _index(self, b: Any, axis: Any) -> Any:
        out = b.out
        number = out.update(dtype=np.dtype(np.uint32))
        at = b.op("stablehlo.partition_id", [], number)
        if self.ids != tuple(range(len(self.ids))):
            at = _looked_up(b, np.argsort(self.ids).astype(np.uint32), at)
        names = self.mesh.axis_names
        below = [self.mesh.shape[n] for n in names[names.index(axis) + 1 :]]
        step = b.constant(int(np.prod(below, dtype=int)), number)
        at = b.op("stablehlo.divide", [at, step], number)
        at = b.op("stablehlo.remainder", [at, b.constant(self.mesh.shape[axis], number)], number)
        return b.convert(at, out.dtype)


def _looked_up(b: Any, table: Any, at: Any) -> Any:
    """The element of a constant at an index."""
    row = at.aval.update(shape=(1,))
    values = b.constant(table, at.aval.update(shape=table.shape))
    result = b.op("stablehlo.dynamic_slice", [values, at], row, "slice_sizes = array<i64: 1>")
    return b.op("stablehlo.reshape", [result], at.aval)


class _Boundary(NamedTuple):
    """A program on parts, with the spec of each input and output and True for stacks."""

    program: ClosedJaxpr
    ins: list[tuple[Any, bool]]
    outs: list[tuple[Any, bool]]


def _opened(program: ClosedJaxpr, axes: tuple[Any, ...]) -> _Boundary:
    """The program without operations that divide inputs and join outputs, if these have no other
    uses; for each input and output a spec, and True if it is a stack."""
    jaxpr = program.jaxpr
    uses: dict[Any, list[Any]] = {v: [] for v in jaxpr.outvars if v.__class__ is Var}
    returned = set(uses)
    for eqn in jaxpr.eqns:
        for x in eqn.invars:
            if x.__class__ is Var:
                uses.setdefault(x, []).append(eqn)
    removed: set[int] = set()

    def undivided(v: Any) -> tuple[Any, tuple[Any, bool]]:
        over = stacked_over(v.aval, axes)
        if over or v.aval.divided is None:
            return v, (PartitionSpec(over) if over else PartitionSpec(), bool(over))
        return v, (PartitionSpec(unreduced=v.aval.divided.spec.unreduced), False)

    def taken(v: Any) -> tuple[Any, tuple[Any, bool]]:
        own = uses.get(v, [])
        if len(own) != 1 or own[0].primitive is not to_parts_p or v in returned:
            return undivided(v)
        removed.add(id(own[0]))
        return own[0].outvars[0], (own[0].params["spec"], False)

    def given(v: Any) -> tuple[Any, tuple[Any, bool]]:
        made = makers.get(v) if v.__class__ is Var else None
        if made is None:
            return undivided(v)
        if not uses[v]:
            removed.add(id(made))
        return made.invars[0], (made.params["spec"], False)

    makers = {e.outvars[0]: e for e in jaxpr.eqns if e.primitive is from_parts_p}
    ins, outs = [taken(v) for v in jaxpr.invars], [given(v) for v in jaxpr.outvars]
    changed = jaxpr.replace(
        invars=[v for v, _ in ins],
        outvars=[v for v, _ in outs],
        eqns=[e for e in jaxpr.eqns if id(e) not in removed],
    )
    return _Boundary(
        ClosedJaxpr(changed, program.consts), [how for _, how in ins], [how for _, how in outs]
    )


@stablehlo_rules.register(shard_map_p)
def _shard_map(b: Any, *operands: Any, jaxpr: Any, mesh: Any, manual_axes: Any) -> list[Any]:
    result = jaxpr.memo(("opened", manual_axes), lambda: _opened(jaxpr, manual_axes))
    outer, outs = b.module.parts, b.outs
    around = outer.axes if outer is not None else ()
    b.module.parts = MeshParts(mesh.abstract_mesh, (*around, *manual_axes), _ids(b, mesh))
    try:
        if not _is_divided(b):  # one device, which has all parts
            return _joined(b, result, _program(b, result, operands), outs)
        return _computation(b, result, operands, outs, mesh, manual_axes)
    finally:
        b.module.parts = outer


def _is_divided(b: Any) -> bool:
    """True if the program is for several devices. For one XLA does not lower manual computations
    in functions with several calls."""
    return b.module.partition is not None and len(b.module.partition.devices) > 1


def _ids(b: Any, mesh: Any) -> tuple[int, ...]:
    """The numbers of the mesh's devices among those of the program."""
    partition = b.module.partition
    count = 1 if partition is None else len(partition.devices)
    if mesh.size != count:
        raise ValueError(
            f"shard_map{describe_source(b.source)} is over {mesh!s}, of {mesh.size} devices, in a "
            f"program on {count}. Give arguments or jit shardings on the devices of that mesh."
        )
    if partition is None or not isinstance(mesh, Mesh):
        return tuple(range(count))
    order = {d: i for i, d in enumerate(partition.devices)}
    return tuple(order.get(d, i) for i, d in enumerate(mesh.devices.flat))


def _program(b: Any, result: _Boundary, args: Sequence[Any]) -> list[Any]:
    """Emits the program on parts; stacks have one element on each device."""
    given = [
        b.op("stablehlo.reshape", [x], v.aval) if is_stack else x
        for x, (_, is_stack), v in zip(args, result.ins, result.program.jaxpr.invars)
    ]
    return b.inline(result.program, given)


def _joined(b: Any, result: _Boundary, outs: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    return [
        b.op("stablehlo.reshape", [x], t) if is_stack else x
        for x, (_, is_stack), t in zip(outs, result.outs, types)
    ]


def _computation(
    b: Any, result: _Boundary, operands: Any, outs: Any, mesh: Any, axes: Any
) -> list[Any]:
    ins: list[Any] = []
    for (_, is_stack), aval in zip(result.ins, result.program.in_avals):
        ins.append(with_leading(aval, 1) if is_stack else aval)
    stacks = [with_leading(aval, 1) for aval in result.program.out_avals]

    def body(b: Any, *args: Any) -> list[Any]:
        return _joined(b, result, _program(b, result, args), stacks)

    def text(pairs: Sequence[tuple[Any, bool]], types: Sequence[Any]) -> list[str]:
        return [
            sharding_text(mesh, s.partitions, len(t.shape), axes, s.unreduced)
            for (s, _), t in zip(pairs, types)
        ]

    region = b.region(ins, body, "sdy.return", True)
    attributes = attributes_of(
        text(result.ins, [x.aval for x in operands]), text(result.outs, outs), mesh, axes
    )
    return b.op("sdy.manual_computation", operands, list(outs), attributes, [region])


@stablehlo_rules.register(shard_alike_p)
def _shard_alike(b: Any, *operands: Any) -> list[Any]:
    if b.is_divided:
        b.divided_alike(operands)
    return list(operands)


@stablehlo_rules.register(one_of_parts_p)
def _one_of_parts(b: Any, x: Any, **params: Any) -> Any:
    return x


@stablehlo_rules.register(to_parts_p)
def _to_parts(b: Any, x: Any, *, mesh: Any, spec: PartitionSpec) -> Any:
    """The device's part of a value that each device has undivided."""
    out = b.out
    number = out.update(shape=(), dtype=np.dtype(np.int32))
    starts: list[Any] = []
    for dim, p in enumerate([*spec.partitions, *[None] * len(out.shape)][: len(out.shape)]):
        at = b.constant(0, number)
        for axis in axes_of(p):
            b.outs = (number,)
            size = b.constant(mesh.shape[axis], number)
            at = b.op("stablehlo.multiply", [at, size], number)
            at = b.op("stablehlo.add", [at, b.module.parts.index(b, axis)], number)
        length = b.constant(out.shape[dim], number)
        starts.append(b.op("stablehlo.multiply", [at, length], number))
    sizes = f"slice_sizes = array<i64: {', '.join(map(str, out.shape))}>"
    return b.op("stablehlo.dynamic_slice", [x, *starts], out, sizes)


@stablehlo_rules.register(from_parts_p)
def _from_parts(b: Any, x: Any, *, mesh: Any, spec: PartitionSpec) -> Any:
    """The undivided value on each device, gathered from the parts."""
    for dim, p in enumerate(spec.partitions):
        axes = axes_of(p)
        if not axes:
            continue
        groups = b.module.parts.groups(axes)
        rows = ", ".join(f"[{', '.join(map(str, g))}]" for g in groups)
        shape = list(x.aval.shape)
        shape[dim] *= len(groups[0])
        attrs = (
            f"all_gather_dim = {dim} : i64, "
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "
            f"dense<[{rows}]> : tensor<{len(groups)}x{len(groups[0])}xi64>, use_global_device_ids"
        )
        x = b.op("stablehlo.all_gather", [x], x.aval.update(shape=tuple(shape)), attrs)
    return x


@stablehlo_rules.register(left_unreduced_p)
def _left_unreduced(b: Any, x: Any, *, dst_sharding: Any, direct: bool) -> Any:
    # The constraint that follows is one on the operation before, if it is the sum.
    return x if direct else _as_undivided(b, x, dst_sharding)


@stablehlo_rules.register(reshard_p)
def _reshard(b: Any, x: Any, *, dst_sharding: Any, auto: Any) -> Any:
    if b.out.divided is None:
        return b.constrain(x, dst_sharding) if dst_sharding.mesh.explicit_axes else x
    now, then = x.aval.divided, b.out.divided  # it is constrained as all values are of such types
    if then.spec.unreduced and not (now and now.spec.unreduced):
        x = _as_undivided(b, x, then if now is None else now)
    return x


def _as_undivided(b: Any, x: Any, sharding: Any) -> Any:
    """``x`` divided so, but no sum that is left to be done, although it is made one next."""
    none: frozenset[Any] = frozenset()
    spec = sharding.spec.update(unreduced=none, reduced=none)
    return b.constrain(x, NamedSharding(sharding.mesh, spec))
