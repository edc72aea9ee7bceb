"""The mesh, the axes and the specs of a ``shard_map``, checked."""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod
from typing import Any, NamedTuple, final

from dovetail_base.source import here, short_repr
from dovetail_core import EVAL, HiType, get_trace
from dovetail_tree.util import broadcast_prefix, keystr, tree_flatten_with_path, tree_unflatten

from ..axis_types import AxisType
from ..contexts import concrete_mesh, get_abstract_mesh
from ..meshes import BaseMesh, Mesh
from ..specs import UNCONSTRAINED, PartitionSpec, axes_of
from .high import is_high_spec
from .primitives import named as named_axes


@final
class Infer:
    """The type of :data:`INFER`: specs are those of the arguments' shardings."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Infer"


INFER = Infer()


class Mapping(NamedTuple):
    """The mesh and axes of a mapped function.

    Attributes:
        name: the function's name. mesh: its devices. axes: the manual axes, in order.
        check: True if results must be known to be equal along axes that specs do not name.
    """

    name: str
    mesh: Any
    axes: tuple[Any, ...]
    check: bool


def chosen_mesh(name: str, mesh: Any) -> Any:
    """The mesh that is given, or the one that is set.

    Raises:
        ValueError: there is none. TypeError: it is something else.
    """
    if mesh is None:
        abstract, result = get_abstract_mesh(), concrete_mesh()
        mesh = result if abstract in (result.abstract_mesh,) else abstract
        if mesh.empty:
            raise ValueError(
                f"shard_map of {name}{here()}: no mesh is given and none is set. Give mesh=, or "
                "set one: with dovetail.set_mesh(mesh)."
            )
    if not isinstance(mesh, BaseMesh):
        raise TypeError(
            f"shard_map of {name}{here()}: mesh must be a Mesh, got {short_repr(mesh)} of type "
            f"{type(mesh).__name__}."
        )
    return mesh


def mesh_with_devices(mapping: Mapping, leaves: Sequence[Any]) -> Any:
    """The mesh, or if it has no devices, the one like it that arguments are on, or that is set.

    Raises:
        ValueError: nothing is traced, and there is none.
    """
    mesh = mapping.mesh
    if isinstance(mesh, Mesh):
        return mesh
    for x in leaves:
        other = getattr(getattr(x, "sharding", None), "mesh", None)
        if getattr(other, "shape_tuple", None) == mesh.shape_tuple and isinstance(other, Mesh):
            return other
    result = concrete_mesh()
    if result.shape_tuple == mesh.shape_tuple:
        return result
    if mesh.size > 1 and leaves and get_trace() is EVAL:
        raise ValueError(
            f"shard_map of {mapping.name}{here()}: mesh is {mesh!r}, which has no devices, no "
            "argument is an array with a NamedSharding of such a mesh, and none is set. Give a "
            "Mesh, or put the arguments on one with device_put."
        )
    return mesh


def chosen_axes(name: str, mesh: Any, axis_names: Any) -> tuple[Any, ...]:
    """The axes to map over, in the order of the mesh: those that are given, or all over which no
    function around is mapped.

    Raises:
        ValueError: the mesh lacks one; the function around sees parts along one already.
        TypeError: they are no set.
    """
    if not isinstance(axis_names, Set):
        raise TypeError(
            f"shard_map of {name}{here()}: axis_names must be a set, got {short_repr(axis_names)} "
            f"of type {type(axis_names).__name__}. Give for example {{'x'}}."
        )
    mapped = set(get_abstract_mesh().manual_axes)
    wanted = set(axis_names) or set(mesh.axis_names) - mapped or set(mesh.axis_names)
    if lacking := wanted - set(mesh.axis_names):
        raise ValueError(
            f"shard_map of {name}{here()}: axis_names has {_listed(lacking)}, and the "
            f"mesh has the axes {mesh.axis_names}."
        )
    if again := wanted & mapped:
        raise ValueError(
            f"shard_map of {name}{here()} over {_listed(again)}, within a shard_map over "
            "the same. Give the other axes as axis_names."
        )
    return tuple(a for a in mesh.axis_names if a in wanted)


def _listed(axes: set[Any]) -> str:
    return ", ".join(sorted(map(repr, axes)))


def inner_mesh(mapping: Mapping) -> Any:
    """The mesh as the function sees it: axes that it is mapped over are of type Manual."""
    abstract = mapping.mesh.abstract_mesh
    outer = set(get_abstract_mesh().manual_axes)
    return abstract.update_axis_types(
        dict.fromkeys(
            [*mapping.axes, *(a for a in abstract.axis_names if a in outer)], AxisType.Manual
        )
    )


def is_spec(x: Any) -> bool:
    """True if ``x`` is a leaf of trees of specs."""
    return x is None or isinstance(x, PartitionSpec) or is_high_spec(x)


def specs_for(mapping: Mapping, argument: str, given: Any, full: Any) -> list[PartitionSpec]:
    """The spec of each leaf of ``full``.

    Raises:
        ValueError: ``given`` is no prefix of ``full``; a spec names an axis that is not mapped.
        TypeError: a leaf is no spec.
    """
    what = f"shard_map of {mapping.name}{here()}: {argument}"
    return [_checked(mapping, what, s) for s in given_specs(mapping, argument, given, full)]


def given_specs(mapping: Mapping, argument: str, given: Any, full: Any) -> list[Any]:
    """The given spec of each leaf of ``full``, which may be None.

    Raises:
        ValueError: ``given`` is no prefix of ``full``.
    """
    where = f"shard_map of {mapping.name}{here()}"
    if isinstance(given, list) and isinstance(full, tuple) and argument == "in_specs":
        given = tuple(given)  # pyright: ignore[reportUnknownVariableType]
    try:
        return broadcast_prefix(given, full, is_leaf=is_spec)
    except ValueError as e:
        raise ValueError(f"{where}: {argument} is no tree prefix. {e}") from None


def _checked(mapping: Mapping, what: str, spec: Any) -> PartitionSpec:
    if spec is None:
        return PartitionSpec()
    if is_high_spec(spec):
        return spec
    if not isinstance(spec, PartitionSpec):
        raise TypeError(
            f"{what} has {short_repr(spec)} of type {type(spec).__name__}: give PartitionSpecs, "
            "P() for what is whole on each device."
        )
    named = [a for p in spec for a in axes_of(p)]
    for axis in named:
        if named.count(axis) > 1:
            raise ValueError(
                f"{what} names the axis {axis!r} twice in {spec}; at most one dimension of an "
                "array can be divided along it."
            )
        if axis not in mapping.axes:
            raise ValueError(
                f"{what} names the axis {axis!r} in {spec}, and the function is mapped over "
                f"{mapping.axes}."
            )
    if spec.unreduced or spec.reduced:
        _check_roles(mapping, what, spec)
    if UNCONSTRAINED in spec.partitions:
        raise ValueError(
            f"{what} has {spec}: within shard_map no dimension is left to the compiler."
        )
    return spec


def _check_roles(mapping: Mapping, what: str, spec: PartitionSpec) -> None:
    """Raise if axes cannot be unreduced or reduced.

    Raises:
        ValueError: an axis is not of type Explicit, so that types do not say what a value is along
            it. NotImplementedError: the function is not mapped over all axes.
    """
    if not mapping.mesh.are_all_axes_explicit:
        raise ValueError(
            f"{what} has {spec}, with axes that are unreduced or reduced: types tell of these "
            f"where all axes of a mesh are of type Explicit, and it is {mapping.mesh!s}."
        )
    if set(mapping.axes) != set(mapping.mesh.axis_names):
        raise NotImplementedError(
            f"{what} has {spec}, with axes that are unreduced or reduced: that is supported where "
            f"a function is mapped over all axes of the mesh, and this one is over {mapping.axes}."
        )


def leaf_names(tree: Any, root: str) -> list[str]:
    """The names of the leaves of a tree in errors: ``args[0]['a']``."""
    paths = tree_flatten_with_path(tree_unflatten(tree, range(tree.num_leaves)))[0]
    return [f"{root}{keystr(path)}" for path, _ in paths]


def check_argument(mapping: Mapping, spec: Any, aval: Any, name: str) -> None:
    """Raise unless an argument of this type can have, and has, the sharding of ``spec``.

    Raises:
        ValueError: a dimension is not divisible, or the type has another sharding.
        TypeError: the spec is not one of values of its kind.
    """
    _check_kind(mapping, spec, aval, name)
    if is_high_spec(spec):
        return
    shape = aval.shape
    _check_rank(mapping, spec, shape, name)
    for dim, (n, p) in enumerate(zip(shape, spec)):
        parts = prod(mapping.mesh.shape[a] for a in axes_of(p))
        if n % parts:
            raise ValueError(
                f"{_shaped(mapping, name, shape)} {spec} divides dimension {dim}, of size {n}, "
                f"into {parts} parts, which is not possible. Pad it, or leave it whole."
            )
    if aval.divided is not None or spec.unreduced or spec.reduced or is_fully_typed(mapping, spec):
        _check_sharding(mapping, spec, aval, name)


def check_result(mapping: Mapping, spec: Any, aval: Any, name: str) -> None:
    """Raise unless ``spec`` is one of results of this type: as :func:`check_argument`."""
    _check_kind(mapping, spec, aval, name)
    if not is_high_spec(spec):
        _check_rank(mapping, spec, aval.shape, name)


def _check_rank(mapping: Mapping, spec: PartitionSpec, shape: Sequence[int], name: str) -> None:
    """Raise ValueError if a spec has more dimensions than an array."""
    if len(spec) > len(shape):
        raise ValueError(
            f"{_shaped(mapping, name, shape)} {spec} is for at least {len(spec)} dimensions."
        )


def _shaped(mapping: Mapping, name: str, shape: Sequence[int]) -> str:
    return f"shard_map of {mapping.name}{here()}: {name} has shape {tuple(shape)}, and its spec"


def _check_kind(mapping: Mapping, spec: Any, aval: Any, name: str) -> None:
    """Raise TypeError where a value of a high type has a spec of arrays, or the other way round."""
    high = isinstance(aval, HiType)
    if high == is_high_spec(spec):
        return
    remedy = (
        "Give a hijax.HiPspec, which says how the arrays are divided that it is made of."
        if high
        else "Give a PartitionSpec."
    )
    raise TypeError(
        f"shard_map of {mapping.name}{here()}: {name} is of type {aval.str_short()}, and its spec "
        f"is {short_repr(spec)}. {remedy}"
    )


def _check_sharding(mapping: Mapping, spec: PartitionSpec, aval: Any, name: str) -> None:
    """Raise ValueError unless the sharding of an argument's type is that of ``spec``."""
    given = [*spec.partitions, *[None] * aval.ndim]
    own_spec = PartitionSpec(*[None] * aval.ndim) if aval.divided is None else aval.divided.spec
    auto = () if aval.divided is None else aval.divided.mesh.auto_axes  # types tell of others
    is_so = all(
        [a for a in axes_of(q) if a in mapping.axes] == [a for a in axes_of(p) if a not in auto]
        for q, p in zip(own_spec.partitions, given)
    )
    own = set(mapping.axes)
    roles = (own_spec.unreduced & own, own_spec.reduced & own)
    if not is_so or roles != (spec.unreduced, spec.reduced):
        raise ValueError(
            f"shard_map of {mapping.name}{here()}: {name} is of type {aval.str_short()}, and "
            f"its spec in in_specs is {spec}. Reshard it (dovetail.sharding.reshard), or leave "
            "in_specs out: then specs are those of the arguments."
        )


def is_fully_typed(mapping: Any, spec: Any) -> bool:
    """True if a spec must be the sharding of a type: it names axes, and the function is mapped over
    all axes of a mesh, all of type ``Explicit``. Types without sharding are undivided then."""
    if not named_axes(spec) or not mapping.mesh.are_all_axes_explicit:
        return False
    return set(mapping.axes) == set(mapping.mesh.axis_names)
