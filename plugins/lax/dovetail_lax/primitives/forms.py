"""Applications of primitives as programs for JAX say them, where they say more than is needed."""

from __future__ import annotations

from typing import Any

from dovetail_core import ClosedJaxpr, Var
from dovetail_core.dispatch.forms import Form, accept_form, accept_parameters

from .arithmetic import cbrt_p, mul_p, rsqrt_p, sqrt_p
from .contractions import conv_general_dilated_p, dot_general_p
from .control_flow import while_p
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


# JAX's loop has constants of its condition, then those of its body; here both programs take all.


def _read_while(args: tuple[Any, ...], params: dict[str, Any]) -> Form:
    if "cond_nconsts" not in params:
        return args, params
    n, m = params.pop("cond_nconsts"), params.pop("body_nconsts")
    cond: ClosedJaxpr = params["cond_jaxpr"]
    body: ClosedJaxpr = params["body_jaxpr"]
    return args, {
        **params,
        "cond_jaxpr": _with_inputs(cond, n, body.in_avals[:m]),
        "body_jaxpr": _with_inputs(body, 0, cond.in_avals[:n]),
        "num_consts": n + m,
    }


def _with_inputs(program: ClosedJaxpr, position: int, avals: list[Any]) -> ClosedJaxpr:
    """The program with further inputs, which it does not use."""
    if not avals:
        return program
    key = "with inputs", position, tuple(avals)
    found = program.cache.get(key)
    if found is None:
        ins = list(program.jaxpr.invars)
        ins[position:position] = [Var(aval) for aval in avals]
        found = program.cache[key] = program.replace(jaxpr=program.jaxpr.replace(invars=ins))
    return found


def _write_while(args: tuple[Any, ...], params: dict[str, Any]) -> Form:
    told = dict(params)
    n = told.pop("num_consts")
    return (*args[:n], *args), {"cond_nconsts": n, **told, "body_nconsts": n}


accept_form(while_p, _read_while, _write_while)
