"""``sparsify``: functions of dense arrays, called with sparse ones."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .carrier import SparseCarrier as SparseCarrier, sparsify_rules as sparsify_rules
    from .function import sparsify as sparsify
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
