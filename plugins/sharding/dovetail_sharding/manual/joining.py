"""Global arrays from the parts that devices have."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, NoReturn

from dovetail_core import here, manual_axis_types, typeof
from dovetail_lax import pcast_p, pvary_p

from ..settings import remove_size_one_mesh_axis_from_type
from ..specs import PartitionSpec
from .primitives import from_parts_p, has_parts, named, one_of_parts_p


def global_array(mapping: Any, x: Any, spec: PartitionSpec, name: str) -> Any:
    """The global array of the parts ``x`` by ``spec``; errors call it ``name``.

    Raises:
        ValueError: it may differ along an axis that its spec does not name.
    """
    x = _in_role(mapping, x, spec, name)
    aval: Any = typeof(x)
    over, vma = named(spec), aval.vma
    rest = tuple(a for a in mapping.axes if a in vma and a not in over)
    if rest and remove_size_one_mesh_axis_from_type.value:
        single = tuple([a for a in rest if mapping.mesh.shape[a] == 1])
        x = one_of_parts_p.bind(x, axes=single, count=1) if single else x
        rest = tuple([a for a in rest if a not in single])
    if rest and mapping.check:
        raise ValueError(
            f"shard_map of {mapping.name}{here()}: {name} may differ along the axis "
            f"{rest[0]!r} of the mesh, and its spec {spec} does not name that. Name it in "
            f"out_specs, reduce the result over it (lax.psum(..., {rest[0]!r})), or, if the "
            "results are equal all the same, pass check_vma=False."
        )
    if rest:
        count = prod(mapping.mesh.shape[a] for a in rest)
        x = one_of_parts_p.bind(x, axes=rest, count=count)
    more = tuple(a for a in over if a not in vma)
    x = pvary_p.bind(x, axes=more) if more else x
    if not has_parts(spec):
        return x
    return from_parts_p.bind(x, mesh=mapping.mesh.abstract_mesh, spec=spec)


def _in_role(mapping: Any, x: Any, spec: PartitionSpec, name: str) -> Any:
    """``x`` as a value that is unreduced, and reduced, along the axes of its spec.

    Raises:
        ValueError: it is not, and cannot be cast to such a value.
    """
    vma = typeof(x).vma
    sums, reduced = manual_axis_types.unreduced_in(vma), manual_axis_types.reduced_in(vma)
    if more := spec.unreduced - sums:
        if not more <= vma:
            _refuse(mapping, x, spec, name, "varies over, or is a sum along,", more - vma or more)
        x = pcast_p.bind(x, axes=tuple(sorted(more, key=str)), to="unreduced")
    if left := sums - spec.unreduced:
        _refuse(mapping, x, spec, name, "is no sum that is left to be done along", left)
    if mapping.check and spec.reduced - reduced:
        _refuse(mapping, x, spec, name, "is reduced along", spec.reduced - reduced)
    if known := tuple(sorted(reduced - spec.reduced, key=str)):
        over = tuple([a for a in known if a in named(spec)])
        same = tuple([a for a in known if a not in over])
        x = pcast_p.bind(x, axes=over, to="varying") if over else x
        x = pcast_p.bind(x, axes=same, to="invarying") if same else x
    return x


def _refuse(
    mapping: Any, x: Any, spec: PartitionSpec, name: str, what: str, axes: Iterable[Any]
) -> NoReturn:
    raise ValueError(
        f"shard_map of {mapping.name}{here()}: {name} is of type {typeof(x).str_short()}, and its "
        f"spec {spec} says that it {what} {', '.join(sorted(map(repr, axes)))}. Change out_specs, "
        "or the value: lax.pcast makes summands of what varies and lax.psum the sum; lax.pcast(x, "
        "axis, to='reduced') is for what is equal on all devices."
    )
