"""``shard_map`` and ``smap``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from contextlib import ExitStack
from functools import partial
from typing import Any

from dovetail_backends import device_put
from dovetail_base.source import describe
from dovetail_base.wrapping import wraps
from dovetail_core import (
    ClosedJaxpr,
    HiType,
    bound_axis,
    callable_name,
    consts_to_inputs,
    here,
    programs,
    stage,
    typeof,
)
from dovetail_lax import pcast_p
from dovetail_tree.util import tree_flatten, tree_map, tree_unflatten
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.shardings import NamedSharding

from ..contexts import use_abstract_mesh
from ..meshes import Mesh
from ..settings import auto_pcast, remove_size_one_mesh_axis_from_type
from ..specs import PartitionSpec, without_single
from .arguments import along, as_specified, frozen, held, made, put, without_statics
from .high import from_parts, is_high_spec, to_parts, varying
from .joining import global_array
from .primitives import has_parts, shard_map_p, to_parts_p
from .specs import (
    INFER,
    Mapping,
    check_argument,
    check_result,
    chosen_axes,
    chosen_mesh,
    inner_mesh,
    leaf_names,
    mesh_with_devices,
    specs_for,
)


def check_matching(name: str, program: ClosedJaxpr) -> None:
    """Raise if operands of one operation vary over different axes, as with ``auto_pcast`` off.

    Raises:
        ValueError: names the operation, its line and the operands' types.
    """
    for part in programs.walk_programs(program):
        for eqn in programs.open_program(part).eqns:
            traits = eqn.primitive.traits
            if eqn.primitive.regions is not None or traits.varies is not None:
                continue
            avals: list[Any] = [v.aval for v in eqn.invars]
            if len({a.vma for a in avals}) > 1:
                types = ", ".join(a.str_short() for a in avals)
                raise ValueError(
                    f"shard_map of {name}: operands of {eqn.primitive.name} vary over different "
                    f"axes{describe(eqn.source)}: {types}. The option auto_pcast is off: cast "
                    "them (lax.pcast(x, axes, to='varying')), or switch it on."
                )


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = INFER,
    mesh: Any = None,
    axis_names: Set[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Map ``f`` over the parts of its arguments that the devices of a mesh hold.

    ``f`` sees parts: arrays whose dimensions are divided as specs say. Collectives in it
    (``lax.psum(x, "x")``) refer to the axes of the mesh. Its results are parts of the results.

    Args:
        f: a function of arrays by position. Without it, a decorator.
        in_specs: a PartitionSpec, or a pytree of them, a prefix of the tuple of arguments; by
            default the specs of the arguments' shardings, where all axes are of type ``Explicit``.
            There they may name axes that are ``unreduced`` or ``reduced``, too (see ``lax.pcast``).
            Values of high types have specs of their own (``hijax.HiPspec``). With None ``f`` gets
            values that are not arrays as they are, and arrays undivided.
        out_specs: the same for the result. Along axes that a spec does not name the results of all
            devices are equal, and one is returned.
        mesh: the devices; by default the mesh that is set.
        axis_names: the axes over which ``f`` is mapped, by default all; along others ``f`` computes
            with undivided arrays, which the compiler divides.
        check_vma: True to raise if a result may differ along an axis that its spec does not name.
            With False all values count as different on each device: the sum over an axis is, for
            derivatives, one result for each device.

    Raises:
        ValueError: there is no mesh; specs name other axes, have more dimensions than arrays or
            another structure, or do not divide an argument; a result may differ along an axis that
            its spec does not name.
        TypeError: a spec is something else.
    """
    options: Any = {
        "out_specs": out_specs, "in_specs": in_specs, "mesh": mesh, "axis_names": axis_names,
        "check_vma": check_vma,
    }  # fmt: skip
    if f is None:
        return partial(shard_map, **options)
    if not callable(f):
        raise TypeError(f"shard_map takes a function, got {f!r} of type {type(f).__name__}{here()}")
    name = callable_name(f)

    @wraps(f)
    def mapped(*args: Any) -> Any:
        result = chosen_mesh(name, mesh)
        mapping = Mapping(name, result, chosen_axes(name, result, axis_names), bool(check_vma))
        dynamic = without_statics(mapping, f, args, in_specs)
        return _call(mapping, *dynamic, out_specs)

    return mapped


def _call(
    mapping: Mapping, f: Callable[..., Any], args: tuple[Any, ...], in_specs: Any, out_specs: Any
) -> Any:
    given, tree = tree_flatten(args)
    leaves = given
    names = leaf_names(tree, "args")
    infers = in_specs is INFER
    specs = _inferred(mapping, given) if infers else specs_for(mapping, "in_specs", in_specs, args)
    mutable = [i for i, x in enumerate(leaves) if typeof(x).is_mutable]
    if mutable:
        leaves = held(mapping, leaves, names.__getitem__)
    leaves = [as_specified(mapping, x, s) for x, s in zip(leaves, specs)]
    avals: list[Any] = [typeof(x) for x in leaves]
    for aval, spec, name in zip(avals, specs, names):
        check_argument(mapping, spec, aval, name)
    mapping = mapping._replace(mesh=mesh_with_devices(mapping, leaves))
    results = _Results(mapping, out_specs, any(isinstance(a, HiType) for a in avals))

    def flat(*global_args: Any) -> list[Any]:
        parts = [_part(mapping, x, s) for x, s in zip(global_args, specs)]
        parts = [made(x) if i in mutable else x for i, x in enumerate(parts)]
        with ExitStack() as scope:
            scope.enter_context(use_abstract_mesh(inner_mesh(mapping)))
            for axis in mapping.axes:
                size = mapping.mesh.shape[axis]
                scope.enter_context(bound_axis(axis, size, manual=True, checked=mapping.check))
            result = results.note(f(*tree_unflatten(tree, parts)))
        outs = [results.global_result(i, x) for i, x in enumerate(result)]
        for i in mutable:
            held_at_end = frozen(parts[i]), specs[i], f"what {names[i]} holds at the end"
            outs.append(results.joined(*held_at_end))
        return outs

    jaxpr, consts = stage(flat, avals, mapping.name)
    if not auto_pcast.value and mapping.check:
        check_matching(mapping.name, consts_to_inputs(jaxpr))
    outs = shard_map_p.bind(
        *consts,
        *leaves,
        jaxpr=consts_to_inputs(jaxpr),
        mesh=mapping.mesh,
        manual_axes=mapping.axes,
    )
    count = len(outs) - len(mutable)
    for i, x in zip(mutable, outs[count:]):
        put(given[i], x)
    return tree_unflatten(
        results.tree, map(partial(_spelled, mapping.mesh), outs[:count], results.specs)
    )


def _spelled(mesh: Any, x: Any, spec: Any) -> Any:
    """An evaluated result whose equivalent sharding has exactly its spec, and the mesh that the
    function is mapped over: arguments may be on another one of the same devices."""
    had: Any = x.sharding if x.__class__ is ArrayImpl else None
    if had.__class__ is not NamedSharding or spec.unreduced:
        return x
    mesh = mesh if isinstance(mesh, Mesh) else had.mesh
    if had.spec == spec and had.mesh == mesh:
        return x
    wanted: Any = NamedSharding(mesh, spec, memory_kind=had.memory_kind)
    return device_put(x, wanted) if wanted.is_equivalent_to(had, x.ndim) else x


def _part(mapping: Mapping, x: Any, spec: Any) -> Any:
    if is_high_spec(spec):
        return to_parts(mapping, x, spec)
    if remove_size_one_mesh_axis_from_type.value:
        spec = without_single(mapping.mesh, spec)
    if has_parts(spec):
        x = to_parts_p.bind(x, mesh=mapping.mesh.abstract_mesh, spec=spec)
    if mapping.check:
        return x
    if unvarying := spec.unreduced | spec.reduced:
        x = pcast_p.bind(x, axes=tuple(sorted(unvarying, key=str)), to="varying")
    return varying(x, mapping.axes)


class _Results:
    """The results of a mapped function: their structure and specs, known once it has run."""

    def __init__(self, mapping: Mapping, out_specs: Any, high: bool) -> None:
        self.mapping = mapping
        self.high = high  # True if types of some values may lack axes of variation
        self.out_specs = out_specs
        self.tree: Any = None
        self.specs: list[PartitionSpec] = []
        self.names: list[str] = []

    def note(self, out: Any) -> list[Any]:
        """The leaves of the function's result."""
        leaves, self.tree = tree_flatten(out)
        self.specs = specs_for(self.mapping, "out_specs", self.out_specs, out)
        self.names = leaf_names(self.tree, "result")
        for x, spec, name in zip(leaves, self.specs, self.names):
            check_result(self.mapping, spec, typeof(x), name)
        return leaves

    def global_result(self, i: int, x: Any) -> Any:
        """The global result of the parts ``x``."""
        return self.joined(x, self.specs[i], self.names[i])

    def joined(self, x: Any, spec: PartitionSpec, name: str) -> Any:
        """The global value of the parts ``x`` by ``spec``; errors call it ``name``."""
        if is_high_spec(spec):
            return from_parts(self.mapping, x, spec)
        if self.high and not self.mapping.check:
            x = varying(x, self.mapping.axes)
        return global_array(self.mapping, x, spec, name)


def _inferred(mapping: Mapping, leaves: Sequence[Any]) -> list[PartitionSpec]:
    """The specs of the arguments' shardings."""
    if not set(mapping.axes) <= set(mapping.mesh.explicit_axes):
        raise TypeError(
            f"shard_map of {mapping.name}{here()}: in_specs are not given, and not all axes of "
            f"{mapping.mesh!s} are of type Explicit over which it is mapped: {mapping.axes}. Give "
            "in_specs."
        )
    result: list[PartitionSpec] = []
    for x in leaves:
        aval: Any = typeof(x)
        aval = getattr(aval, "inner_aval", aval)  # of a reference: its content
        sharding: Any = aval.divided or getattr(x, "sharding", None)
        is_named = isinstance(sharding, NamedSharding)
        spec: Any = sharding.spec if is_named else PartitionSpec()  # type: ignore[union-attr]
        result.append(along(mapping.axes, spec))
    return result


def smap(
    f: Callable[..., Any] | None = None, /, *, in_axes: Any = INFER, out_axes: Any, axis_name: Any
) -> Any:
    """:func:`shard_map` over one axis of the mesh that is set, by the positions of dimensions.

    Args:
        in_axes: the dimension of each argument that is divided, None for undivided ones: an
            integer, or a pytree, a prefix of the tuple of arguments.
        out_axes: the same for the result. axis_name: the axis of the mesh.

    Raises:
        ValueError, TypeError: as :func:`shard_map`.
    """
    if f is None:
        return partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)

    def spec(axis: int | None) -> PartitionSpec:
        return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, axis_name)

    def specs(axes: Any) -> Any:
        return axes if axes is INFER else tree_map(spec, axes, is_leaf=lambda a: a is None)

    names = frozenset({axis_name})
    return shard_map(f, in_specs=specs(in_axes), out_specs=specs(out_axes), axis_names=names)
