"""Applications of primitives as programs for JAX say them, where they say more than is needed."""

from __future__ import annotations

from typing import Any

_FOR_ALL_OF = {
    "cbrt cos exp2 exp expm1 log1p log logistic rsqrt sin sqrt tan tanh": {"accuracy": None},
    "broadcast_in_dim convert_element_type iota": {"sharding": None},
    "conv_general_dilated dot_general reduce_sum rng_bit_generator": {"out_sharding": None},
}
FURTHER: dict[str, dict[str, Any]] = {
    **{name: dict(said) for names, said in _FOR_ALL_OF.items() for name in names.split()},
    "reshape": {"dimensions": None, "sharding": None},
    "mul": {"out_dtype": None},
    "scatter": {"update_jaxpr": None, "update_consts": ()},
    "qr": {"use_magma": None},
    "schur": {"sort_eig_vals": False, "select_callable": None},
    "svd": {"subset_by_index": None},
    "eig": {"implementation": None},
    "eigh": {"sort_eigenvalues": True, "subset_by_index": None, "algorithm": None},
}
"""Parameters that primitives take and drop, and their values for who asks, by primitive."""
