"""Specs as places: a spec stands for a sharding, of the mesh that is set."""

from __future__ import annotations

from typing import Any

from dovetail_base.placements import register_placement

from .contexts import mesh_for_specs
from .grids import NamedSharding
from .specs import P as P, PartitionSpec as PartitionSpec


def _named(argument: str, spec: Any) -> NamedSharding:
    return NamedSharding(mesh_for_specs(argument), spec)


register_placement(PartitionSpec, _named)
