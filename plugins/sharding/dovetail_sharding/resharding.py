"""Arrays with other shardings, within what is traced and outside of it."""

from __future__ import annotations

from typing import Any

from dovetail_base.placements import resolve_placement
from dovetail_base.source import here
from dovetail_tree.util import broadcast_prefix, tree_flatten

from .axis_types import AxisType
from .grids import NamedSharding
from .placing import PartitionSpec
from .specs import axes_of
from .types.casting import told


def reshard(xs: Any, out_shardings: Any) -> Any:
    """``xs``, a pytree of arrays, with other shardings along axes of type ``Explicit``.

    Args:
        out_shardings: a NamedSharding, or a PartitionSpec of the mesh that is set; or a pytree of
            them, a prefix of ``xs``.

    Raises:
        ValueError: no mesh is set; an axis is of another type; the structures differ.
        TypeError: something else is given.
    """
    leaves, treedef = tree_flatten(xs)
    kinds = (NamedSharding, PartitionSpec)
    try:
        given = broadcast_prefix(out_shardings, xs, is_leaf=lambda v: isinstance(v, kinds))
    except ValueError as e:
        text = f"reshard{here()}: out_shardings must be a tree prefix of xs. {e}"
        raise ValueError(text) from None
    return treedef.unflatten([told(x, _explicit(s)) for x, s in zip(leaves, given)])


def _explicit(given: Any) -> NamedSharding:
    place = resolve_placement("out_shardings of reshard", given)
    if not isinstance(place, NamedSharding):
        raise TypeError(
            f"reshard{here()}: out_shardings has a value of type {type(given).__name__}; give a "
            "NamedSharding or a PartitionSpec."
        )
    types: Any = dict(zip(place.mesh.axis_names, place.mesh.axis_types))
    for axis in (a for p in place.spec for a in axes_of(p)):
        if types[axis] is not AxisType.Explicit:
            raise ValueError(
                f"reshard{here()}: {place.spec} names the axis {axis!r}, which is of type "
                f"{types[axis]!r}. Arrays are resharded along axes of type Explicit; along others "
                "use device_put, or lax.with_sharding_constraint in a traced function."
            )
    return place
