"""Names for other plugins, beside the public surface."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..arrays import (
        make_array_from_callback as make_array_from_callback,
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from ..constraints import with_sharding_constraint as with_sharding_constraint
    from ..named import tiles as tiles
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
