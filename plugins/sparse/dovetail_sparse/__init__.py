"""Sparse arrays: the public names of ``jax.experimental.sparse``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sparse.base import (
        CuSparseEfficiencyWarning as CuSparseEfficiencyWarning,
        JAXSparse as JAXSparse,
        SparseEfficiencyError as SparseEfficiencyError,
        SparseEfficiencyWarning as SparseEfficiencyWarning,
    )
    from dovetail_sparse.bcoo import (
        BCOO as BCOO,
        bcoo_broadcast_in_dim as bcoo_broadcast_in_dim,
        bcoo_concatenate as bcoo_concatenate,
        bcoo_conv_general_dilated as bcoo_conv_general_dilated,
        bcoo_dot_general as bcoo_dot_general,
        bcoo_dot_general_sampled as bcoo_dot_general_sampled,
        bcoo_dynamic_slice as bcoo_dynamic_slice,
        bcoo_extract as bcoo_extract,
        bcoo_fromdense as bcoo_fromdense,
        bcoo_gather as bcoo_gather,
        bcoo_multiply_dense as bcoo_multiply_dense,
        bcoo_multiply_sparse as bcoo_multiply_sparse,
        bcoo_reduce_sum as bcoo_reduce_sum,
        bcoo_reshape as bcoo_reshape,
        bcoo_rev as bcoo_rev,
        bcoo_slice as bcoo_slice,
        bcoo_sort_indices as bcoo_sort_indices,
        bcoo_squeeze as bcoo_squeeze,
        bcoo_sum_duplicates as bcoo_sum_duplicates,
        bcoo_todense as bcoo_todense,
        bcoo_transpose as bcoo_transpose,
        bcoo_update_layout as bcoo_update_layout,
    )
    from dovetail_sparse.bcsr import (
        BCSR as BCSR,
        bcsr_broadcast_in_dim as bcsr_broadcast_in_dim,
        bcsr_concatenate as bcsr_concatenate,
        bcsr_dot_general as bcsr_dot_general,
        bcsr_extract as bcsr_extract,
        bcsr_fromdense as bcsr_fromdense,
        bcsr_sum_duplicates as bcsr_sum_duplicates,
        bcsr_todense as bcsr_todense,
    )
    from dovetail_sparse.coo import (
        COO as COO,
        coo_fromdense as coo_fromdense,
        coo_matmat as coo_matmat,
        coo_matvec as coo_matvec,
        coo_todense as coo_todense,
    )
    from dovetail_sparse.creation import empty as empty, eye as eye, todense as todense
    from dovetail_sparse.csr import (
        CSC as CSC,
        CSR as CSR,
        csr_fromdense as csr_fromdense,
        csr_matmat as csr_matmat,
        csr_matvec as csr_matvec,
        csr_todense as csr_todense,
    )
    from dovetail_sparse.differentiating import (
        grad as grad,
        jacfwd as jacfwd,
        jacobian as jacobian,
        jacrev as jacrev,
        value_and_grad as value_and_grad,
    )
    from dovetail_sparse.lifting import sparsify as sparsify
    from dovetail_sparse.primitives import todense_p as todense_p
    from dovetail_sparse.random import random_bcoo as random_bcoo

    from . import (
        bcoo as bcoo,
        bcsr as bcsr,
        coo as coo,
        csr as csr,
        linalg as linalg,
        random as random,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
