"""Operations element by element: those that leave zeros zero, sums, products and quotients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, derive, here

from ...base import JAXSparse
from ...bcoo import operators
from ...bcoo.indices import unique
from ...lifting.carrier import SparseCarrier, as_bcoo, sparsify_rules, with_data
from ...primitives import todense_p

LINEAR = (lax.copy_p, lax.imag_p, lax.neg_p, lax.real_p, lax.reduce_precision_p, lax.conj_p)
ZERO_STAYS = (
    lax.abs_p, lax.asin_p, lax.asinh_p, lax.atan_p, lax.atanh_p, lax.bessel_i1e_p, lax.cbrt_p,
    lax.ceil_p, lax.erf_p, lax.expm1_p, lax.floor_p, lax.integer_pow_p, lax.log1p_p, lax.round_p,
    lax.sign_p, lax.sin_p, lax.sinh_p, lax.sqrt_p, lax.square_p, lax.tan_p, lax.tanh_p,
)  # fmt: skip

Args = Sequence[Any]
Params = dict[str, Any]
Rule = Callable[[SparseCarrier, Args, Params], Any]

sparsify_rules.deriver(derive)


def _on_elements(primitive: Primitive, linear: bool) -> Rule:
    def rule(carrier: SparseCarrier, args: Args, params: Params) -> Any:
        (x,) = args
        if primitive is lax.integer_pow_p and params["y"] <= 0:
            raise NotImplementedError(
                f"sparsify: a power of {params['y']} of a sparse array would be dense{here()}. "
                f"{operators.DENSE}"
            )
        x = x if linear else _without_duplicates(x)
        return with_data(x, primitive.bind(x.data, **params))

    return rule


def _without_duplicates(x: JAXSparse) -> JAXSparse:
    """The same array, with elements at equal indices added."""
    return x if getattr(x, "unique_indices", False) else unique(as_bcoo(x))


for _primitive in LINEAR:
    sparsify_rules.set(_primitive, _on_elements(_primitive, True))
for _primitive in ZERO_STAYS:
    sparsify_rules.set(_primitive, _on_elements(_primitive, False))


@sparsify_rules.register(lax.convert_element_type_p)
def _convert_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    (x,) = args
    if operators.loses_fractions(x.dtype, params["new_dtype"]):
        x = _without_duplicates(x)
    return with_data(x, lax.convert_element_type_p.bind(x.data, **params))


@sparsify_rules.register(todense_p)
def _todense_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    return args[0].todense()


def _binary(operation: Callable[[Any, Any], Any], swapped: Callable[[Any, Any], Any]) -> Rule:
    """The rule of an operation, from it and from the same with operands exchanged."""

    def rule(carrier: SparseCarrier, args: Args, params: Params) -> Any:
        x, y = (as_bcoo(a) if isinstance(a, JAXSparse) else a for a in args)
        result = operation(x, y) if isinstance(x, JAXSparse) else swapped(y, x)
        if result is not NotImplemented:
            return result
        raise NotImplementedError(f"sparsify: no such operation on sparse arrays{here()}")

    return rule


sparsify_rules.set(lax.add_p, _binary(operators.add, operators.add))
sparsify_rules.set(lax.sub_p, _binary(operators.subtract, operators.rsubtract))
sparsify_rules.set(lax.mul_p, _binary(operators.multiply, operators.multiply))
sparsify_rules.set(lax.div_p, _binary(operators.divide, operators.rdivide))
