"""Meshes, specs and shardings of arrays on several devices."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sharding.axis_types import AxisType as AxisType
    from dovetail_sharding.contexts import (
        PartitionSpec as PartitionSpec,
        get_abstract_mesh as get_abstract_mesh,
        get_mesh as get_mesh,
        set_mesh as set_mesh,
        use_abstract_mesh as use_abstract_mesh,
    )
    from dovetail_sharding.manual.types import ManualAxisType as ManualAxisType
    from dovetail_sharding.meshes import (
        AbstractDevice as AbstractDevice,
        AbstractMesh as AbstractMesh,
        Mesh as Mesh,
    )
    from dovetail_sharding.named import (
        Sharding as Sharding,
        SingleDeviceSharding as SingleDeviceSharding,
        make_single_device_sharding as make_single_device_sharding,
    )
    from dovetail_sharding.shardy import NamedSharding as NamedSharding
    from dovetail_sharding.types.modes import (
        auto_axes as auto_axes,
        explicit_axes as explicit_axes,
    )
    from dovetail_sharding.types.resharding import reshard as reshard
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
