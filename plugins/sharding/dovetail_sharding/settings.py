"""Options of meshes, by JAX's names."""

from __future__ import annotations

from dovetail_base.environment import as_bool
from dovetail_base.options import Option

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
