"""Applications of primitives as programs for JAX say them, where they say more than is needed."""

from __future__ import annotations

from dovetail_core.dispatch.forms import accept_parameters

from .arithmetic import cbrt_p, mul_p, rsqrt_p, sqrt_p
from .contractions import conv_general_dilated_p, dot_general_p
from .factorizations import qr_p
from .gather import scatter_p
from .reductions import reduce_sum_p
from .rng import rng_bit_generator_p
from .shape import broadcast_in_dim_p, reshape_p
from .spectral import eig_p, eigh_p, svd_p
from .transcendental import (
    cos_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    logistic_p,
    sin_p,
    tan_p,
    tanh_p,
)  # fmt: skip
from .values import convert_element_type_p, iota_p

for _p in (
    cbrt_p, cos_p, exp2_p, exp_p, expm1_p, log1p_p, log_p, logistic_p, rsqrt_p, sin_p, sqrt_p,
    tan_p, tanh_p,
):  # fmt: skip
    accept_parameters(_p, accuracy=None)
for _p in (broadcast_in_dim_p, convert_element_type_p, iota_p):
    accept_parameters(_p, sharding=None)
for _p in (conv_general_dilated_p, dot_general_p, reduce_sum_p, rng_bit_generator_p):
    accept_parameters(_p, out_sharding=None)
accept_parameters(reshape_p, dimensions=None, sharding=None)
accept_parameters(mul_p, out_dtype=None)
accept_parameters(scatter_p, update_jaxpr=None, update_consts=())
accept_parameters(qr_p, use_magma=None)
accept_parameters(svd_p, subset_by_index=None)
accept_parameters(eig_p, implementation=None)
accept_parameters(eigh_p, sort_eigenvalues=True, subset_by_index=None, algorithm=None)
