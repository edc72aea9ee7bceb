"""Wholes that are made of the parts that devices have."""

from __future__ import annotations

from math import prod
from typing import Any

from dovetail_core import here, typeof
from dovetail_lax import pvary_p

from ..specs import PartitionSpec
from .primitives import from_parts_p, named, one_of_parts_p


def whole_array(mapping: Any, x: Any, spec: PartitionSpec, name: str) -> Any:
    """What consists of the parts ``x``, as ``spec`` says; errors call it ``name``.

    Raises:
        ValueError: it may differ along an axis that its spec does not name.
    """
    aval: Any = typeof(x)
    over, vma = named(spec), aval.vma
    rest = tuple(a for a in mapping.axes if a in vma and a not in over)
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
    return from_parts_p.bind(x, mesh=mapping.mesh.abstract_mesh, spec=spec) if over else x
