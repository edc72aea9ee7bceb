"""Functions of the parts that devices hold, as they were spelt before."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sharding.experimental.shard_map import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
