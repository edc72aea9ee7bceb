"""Arrays in BCOO format, and functions on them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import (
        BCOO as BCOO,
        bcoo_fromdense as bcoo_fromdense,
        bcoo_todense as bcoo_todense,
    )
    from .axes import (
        bcoo_broadcast_in_dim as bcoo_broadcast_in_dim,
        bcoo_reduce_sum as bcoo_reduce_sum,
        bcoo_rev as bcoo_rev,
        bcoo_squeeze as bcoo_squeeze,
        bcoo_transpose as bcoo_transpose,
    )
    from .conversions import bcoo_extract as bcoo_extract
    from .convolution import bcoo_conv_general_dilated as bcoo_conv_general_dilated
    from .indexing import (
        bcoo_dynamic_slice as bcoo_dynamic_slice,
        bcoo_gather as bcoo_gather,
        bcoo_slice as bcoo_slice,
    )
    from .indices import (
        bcoo_sort_indices as bcoo_sort_indices,
        bcoo_sum_duplicates as bcoo_sum_duplicates,
    )
    from .operators import bcoo_multiply_dense as bcoo_multiply_dense
    from .products import (
        bcoo_dot_general as bcoo_dot_general,
        bcoo_dot_general_sampled as bcoo_dot_general_sampled,
        bcoo_multiply_sparse as bcoo_multiply_sparse,
    )
    from .relayout import bcoo_update_layout as bcoo_update_layout
    from .shaping import bcoo_concatenate as bcoo_concatenate, bcoo_reshape as bcoo_reshape
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
