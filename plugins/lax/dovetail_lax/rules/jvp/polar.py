"""The derivative of polar decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...dtypes import finfo
from ...numerics.matrices import adjoint, hermitian, matmul, on_columns, on_rows
from ...primitives.arithmetic import add_p, div_p, mul_p, sub_p
from ...primitives.discrete import gt_p
from ...primitives.moves import spread
from ...primitives.polar import qdwh_p
from ...primitives.reductions import reduce_max_p
from ...primitives.spectral import eigh_p
from ...primitives.values import convert_element_type_p, select_n_p
from ...scalars import scalar
from .factorizations import Many


@jvp_rules.register(qdwh_p)
def _qdwh(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Many:
    # From A = U H, H = V P Vᴴ: with the antihermitian X = Uᴴ dU, X H + H X = Uᴴ dA - dAᴴ U, which
    # the basis V makes diagonal; the part of dU that leaves the space of U is that of dA H⁻¹.
    x, dx = primals[0], tangents[0]
    u, *rest = qdwh_p.bind(x, **params)
    if 0 in x.shape:
        return [u, *rest], [dx, None, None]
    v, p = eigh_p.bind(hermitian(matmul(adjoint(u), x), True), lower=True)
    w = matmul(u, v)
    change = matmul(dx, v)
    inside = matmul(adjoint(w), change)
    sums = add_p.bind(on_rows(p, inside.shape), on_columns(p, inside.shape))
    turn = mul_p.bind(sub_p.bind(inside, adjoint(inside)), _inverse(sums, p, x.dtype))
    du = matmul(w, turn)
    if x.shape[-2] > x.shape[-1]:
        outside = sub_p.bind(change, matmul(w, inside))
        weights = _inverse(on_columns(p, outside.shape), p, x.dtype)
        du = add_p.bind(du, mul_p.bind(outside, weights))
    return [u, *rest], [matmul(du, adjoint(v)), None, None]


def _inverse(x: Any, values: Any, dtype: Any) -> Any:
    """``1 / x``; zero for what beside the largest singular value is a rounding.

    Such are those of matrices of which only a part counts.
    """
    last = len(values.shape) - 1
    largest = reduce_max_p.bind(values, axes=(last,))
    limit = mul_p.bind(largest, scalar(8.0 * float(finfo(values.dtype).eps), values.dtype))
    one = scalar(1.0, x.dtype)
    fine = gt_p.bind(x, spread(limit, x.shape, tuple(range(last))))
    result = div_p.bind(one, select_n_p.bind(fine, one, x))
    result = select_n_p.bind(fine, scalar(0.0, x.dtype), result)
    return convert_element_type_p.bind(result, new_dtype=dtype, weak_type=False)
