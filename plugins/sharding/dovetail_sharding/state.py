"""What is set in a thread: each value is part of the keys of programs from its first use on."""

from __future__ import annotations

from dovetail_xla.config import LateConfig

devices = LateConfig("dovetail_mesh", None)
"""The mesh that ``set_mesh`` set, or None."""
abstract = LateConfig("dovetail_abstract_mesh", None)
"""Its axes, or those that ``use_abstract_mesh`` set, or None."""
resources = LateConfig("dovetail_resource_meshes", ())
"""The meshes of the ``with mesh:`` blocks around."""
