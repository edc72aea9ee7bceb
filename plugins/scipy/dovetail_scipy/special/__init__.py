"""Special functions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_nn import log_softmax as log_softmax, softmax as softmax
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
