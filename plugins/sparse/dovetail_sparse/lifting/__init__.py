"""``sparsify``: functions of dense arrays, called with sparse ones."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .carrier import (
        SparseCarrier as SparseCarrier,
        sparsify as sparsify,
        sparsify_rules as sparsify_rules,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
