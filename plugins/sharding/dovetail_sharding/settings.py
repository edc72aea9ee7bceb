"""Options of meshes, by JAX's names."""

from __future__ import annotations

from dovetail_base.environment import as_bool
from dovetail_base.options import Option
from dovetail_xla.config import LateConfig

auto_pcast = Option(
    "auto_pcast", True,
    "Within shard_map, operands that do not vary along axes along which others do are cast.",
    check=as_bool, traced=True,
)  # fmt: skip
remove_size_one_mesh_axis_from_type = Option(
    "remove_size_one_mesh_axis_from_type", False,
    "Types say nothing of axes of meshes along which there is one device.",
    check=as_bool, traced=True,
)  # fmt: skip
disallow_mesh_context_manager = Option(
    "disallow_mesh_context_manager", False,
    "`with mesh:` is an error: meshes are set by set_mesh.",
    check=as_bool,
)  # fmt: skip


devices = LateConfig("dovetail_mesh", None)
"""The mesh that ``set_mesh`` set, or None."""
abstract = LateConfig("dovetail_abstract_mesh", None)
"""Its axes, or those that ``use_abstract_mesh`` set, or None."""
resources = LateConfig("dovetail_resource_meshes", ())
"""The meshes of the ``with mesh:`` blocks around."""
