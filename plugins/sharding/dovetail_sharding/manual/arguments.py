"""Arguments of ``shard_map`` whose types tell how they are divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import type_shardings, typeof

from ..grids import NamedSharding
from ..specs import PartitionSpec, axes_of
from .high import is_high_spec
from .primitives import named


def as_specified(mapping: Any, x: Any, spec: Any) -> Any:
    """An argument as the function takes it.

    Where the function is mapped over some axes only, these divide it as ``spec`` says, and the
    others as they did. Where no axis of its mesh is of type ``Explicit``, nothing is told.
    """
    aval: Any = typeof(x)
    told: Any = None if is_high_spec(spec) or aval.is_mutable else aval.divided
    if told is None:
        return x
    if not mapping.mesh.explicit_axes and not mapping.mesh.manual_axes:
        return type_shardings.sharding_provider().without_division(x)
    own, roles = set(mapping.axes), spec.unreduced | spec.reduced
    alike = told.mesh.axis_names == mapping.mesh.axis_names
    if own == set(mapping.mesh.axis_names) or roles or not alike:
        return x
    given = [*spec.partitions, *[None] * aval.ndim]
    both = [
        (
            *[a for a in axes_of(p) if a not in told.mesh.auto_axes],
            *[a for a in axes_of(q) if a not in own],
        )
        for p, q in zip(given, told.spec.partitions)
    ]
    own_roles = {"unreduced": told.spec.unreduced, "reduced": told.spec.reduced}
    wanted = NamedSharding(told.mesh, PartitionSpec(*both, **own_roles))
    return type_shardings.sharding_provider().with_division(x, wanted)


def is_told(mapping: Any, spec: Any) -> bool:
    """Whether types tell of all that a spec says: the function is mapped over all axes of a mesh,
    and all are of type ``Explicit``. An argument of which nothing is told is whole then."""
    if not named(spec) or not mapping.mesh.are_all_axes_explicit:
        return False
    return set(mapping.axes) == set(mapping.mesh.axis_names)


def along(axes: Sequence[Any], spec: PartitionSpec) -> PartitionSpec:
    """What a spec says of these axes."""
    named_axes = set(named(spec)) | spec.unreduced | spec.reduced
    if named_axes <= set(axes):
        return spec
    left = [tuple([a for a in axes_of(p) if a in axes]) or None for p in spec.partitions]
    return PartitionSpec(
        *left, unreduced=spec.unreduced & set(axes), reduced=spec.reduced & set(axes)
    )
