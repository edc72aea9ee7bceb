"""The namespace ``dovetail.ref``: the names of references in ``dovetail``, and further ones."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .discharging import discharge as discharge
    from .functions import (
        addupdate as addupdate,
        get as get,
        run_state as run_state,
        set as set,
        swap as swap,
    )
    from .public import *  # noqa: F403
    from .types import AbstractRef as AbstractRef
    from .views import TransformedRef as TransformedRef
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
