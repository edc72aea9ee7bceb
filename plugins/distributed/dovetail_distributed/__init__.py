"""Programs of several processes: ``initialize``, and what processes know of each other."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_distributed.detecting import Detector as Detector, Place as Place
    from dovetail_distributed.keys import (
        KeyValueStore as KeyValueStore,
        client as client,
        store as store,
    )
    from dovetail_distributed.liveness import live_processes as live_processes
    from dovetail_distributed.starting import (
        initialize as initialize,
        is_initialized as is_initialized,
    )
    from dovetail_distributed.state import State as State, global_state as global_state
    from dovetail_distributed.termination import shutdown as shutdown
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
