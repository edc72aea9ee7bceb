"""Unreduced and reduced values at the boundary of ``shard_map``.

Within a mapped function both are values that vary along the axis: summands, and one value of which
each device has its own cotangent. What changes these roles is outside.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import here, typeof
from dovetail_core.types.algebra import algebra, zeros
from dovetail_lax import axis_index_p, eq

from ..axis_types import AxisType
from ..grids import NamedSharding
from ..specs import PartitionSpec
from ..types.casting import told

NO_AXES: frozenset[Any] = frozenset()


def plain(spec: PartitionSpec) -> PartitionSpec:
    """The spec without roles."""
    return spec.update(unreduced=NO_AXES, reduced=NO_AXES) if has_roles(spec) else spec


def has_roles(spec: Any) -> bool:
    """Whether a spec names unreduced or reduced axes."""
    return isinstance(spec, PartitionSpec) and bool(spec.unreduced or spec.reduced)


def check_roles(mapping: Any, what: str, spec: PartitionSpec) -> None:
    """Raise ValueError where an unreduced or reduced axis is not mapped, or not ``Explicit``."""
    types: Any = dict(zip(mapping.mesh.axis_names, mapping.mesh.axis_types))
    for axis in (*spec.unreduced, *spec.reduced):
        if axis not in mapping.axes:
            raise ValueError(
                f"{what} names the axis {axis!r} in {spec}, and the function is mapped over "
                f"{mapping.axes}."
            )
        if types[axis] is not AxisType.Explicit:
            raise ValueError(
                f"{what} has {spec}, and the axis {axis!r} is of type {types[axis]!r}: values are "
                "unreduced or reduced along axes of type Explicit. Make the mesh with these."
            )


def taken(x: Any, axes: tuple[Any, ...]) -> Any:
    """An argument, before it is divided, without its roles along these axes."""
    divided = typeof(x).divided
    if divided is None or not (divided.spec.unreduced | divided.spec.reduced).intersection(axes):
        return x
    spec = divided.spec
    left = spec.update(
        unreduced=spec.unreduced.difference(axes), reduced=spec.reduced.difference(axes)
    )
    return told(x, NamedSharding(divided.mesh, left))


def summand(x: Any, spec: PartitionSpec, mesh: Any) -> Any:
    """Within: what a device has of a sum, which is ``x``: all of it the first one, others zeros."""
    for axis in (a for a in mesh.axis_names if a in spec.unreduced):
        at = axis_index_p.bind(axes=(axis,), axis_sizes=(mesh.shape[axis],))
        x = algebra().vary(x, (axis,))
        x = algebra().select(eq(algebra().vary(at, (axis,)), 0), zeros(typeof(x)), x)
    return x


def summed(x: Any, spec: PartitionSpec, mapping: Any, name: str) -> Any:
    """Within: the sum of a result's summands.

    Raises:
        ValueError: devices do not have summands along an unreduced axis, as it does not vary; or
            it may differ along a reduced one.
    """
    vma = typeof(x).vma
    if mapping.check and (differs := vma & spec.reduced):
        raise ValueError(
            f"shard_map of {mapping.name}{here()}: {name} may differ along "
            f"{sorted(map(str, differs))}, and {spec} says that it is one value. Return what does "
            "not vary: before pcast(..., to='reduced'), or of all_gather(..., to='invarying')."
        )
    for axis in spec.unreduced:
        if axis not in vma:
            raise ValueError(
                f"shard_map of {mapping.name}{here()}: {name} does not vary along {axis!r}, so "
                f"that devices have no summands of it, as {spec} says. Leave the axis out."
            )
    return algebra().sum_parts(x, spec.unreduced) if spec.unreduced else x


def left(x: Any, spec: Any, mesh: Any) -> Any:
    """A result with the roles that its spec says."""
    if not has_roles(spec):
        return x
    divided = typeof(x).divided
    parts = divided.spec.partitions if divided is not None else ()
    wanted = spec.update(partitions=parts or spec.partitions)
    return told(x, NamedSharding(mesh.abstract_mesh, wanted))
