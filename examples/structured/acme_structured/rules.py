"""Rules of ``structured.rules``: what operations of ``lax`` make of structured arrays."""

from __future__ import annotations

from typing import Any

import dovetail.numpy as dnp
from dovetail import lax
from dovetail_core import typeof

from .interpreter import Dense, register
from .structures import COO, Diagonal, LoRA, Matrix, Zeros
from .values import Structured


def _plain(x: Any, params: dict[str, Any]) -> bool:
    """Whether the product is that of one matrix, over one axis, without batch axes."""
    (left, _), (batch, _) = params["dimension_numbers"]
    return len(left) == 1 and not batch and x.array_type.ndim == 2


def _contract(x: Any, axis: int, y: Any, params: dict[str, Any]) -> Any:
    options = {k: v for k, v in params.items() if k != "dimension_numbers"}

    def dot(a: Any, b: Any, i: int, j: int) -> Any:
        return lax.dot_general(a, b, (((i,), (j,)), ((), ())), **options)

    found = x.contract(axis, y, dot)
    wanted = options["preferred_element_type"] or dnp.result_type(x.dtype, y.dtype)
    return lax.convert_element_type(found, wanted)


@register(lax.dot_general_p, Matrix, Dense)
def _matrix_dense(x: Any, y: Any, **params: Any) -> Any:
    if not _plain(x, params):
        return NotImplemented
    ((i,), (j,)), _ = params["dimension_numbers"]
    return _contract(x, i, dnp.moveaxis(y, j, 0), params)


@register(lax.dot_general_p, Dense, Matrix)
def _dense_matrix(x: Any, y: Any, **params: Any) -> Any:
    if not _plain(y, params):
        return NotImplemented
    ((i,), (j,)), _ = params["dimension_numbers"]
    return dnp.moveaxis(_contract(y, j, dnp.moveaxis(x, i, 0), params), 0, -1)


def _is_plain_product(x: Any, y: Any, params: dict[str, Any]) -> bool:
    return _plain(x, params) and _plain(y, params) and params["preferred_element_type"] is None


@register(lax.dot_general_p, Diagonal, Diagonal)
def _diagonals(x: Any, y: Any, **params: Any) -> Any:
    return Diagonal(x.d * y.d) if _is_plain_product(x, y, params) else NotImplemented


@register(lax.dot_general_p, Diagonal, LoRA)
def _diagonal_lora(x: Any, y: Any, **params: Any) -> Any:
    if not _is_plain_product(x, y, params):
        return NotImplemented
    W, A, B = (y.W, y.A, y.B) if params["dimension_numbers"][0][1] == (0,) else _swapped(y)
    return LoRA(x.d[:, None] * W, x.d[:, None] * A, B)


@register(lax.dot_general_p, LoRA, Diagonal)
def _lora_diagonal(x: Any, y: Any, **params: Any) -> Any:
    if not _is_plain_product(x, y, params):
        return NotImplemented
    W, A, B = (x.W, x.A, x.B) if params["dimension_numbers"][0][0] == (1,) else _swapped(x)
    return LoRA(W * y.d, A, B * y.d)


def _swapped(x: Any) -> tuple[Any, Any, Any]:
    return x.W.T, x.B.T, x.A.T


@register(lax.dot_general_p, Zeros, object)
def _zeros_dot(x: Any, y: Any, **params: Any) -> Any:
    return _zeros_like(lax.dot_general_p, x, y, **params)


@register(lax.dot_general_p, object, Zeros)
def _dot_zeros(x: Any, y: Any, **params: Any) -> Any:
    return _zeros_like(lax.dot_general_p, x, y, **params)


@register(lax.dot_general_p, Zeros, Zeros)
def _zeros_dot_zeros(x: Any, y: Any, **params: Any) -> Any:
    return _zeros_like(lax.dot_general_p, x, y, **params)


def _array_type(x: Any) -> Any:
    return x.array_type if isinstance(x, Structured) else typeof(x)


def _zeros_like(primitive: Any, *args: Any, **params: Any) -> Any:
    aval: Any = primitive.infer(tuple(map(_array_type, args)), params).avals[0]
    return Zeros(dnp.zeros((0,), aval.dtype), aval.shape)


# Sums.


def _same(x: Any, y: Any) -> bool:
    return _array_type(x).strong() == _array_type(y).strong()


def _sum(primitive: Any, sign: Any) -> None:
    """Rules of a sum (``sign`` is the identity) or a difference."""

    @register(primitive, object, Zeros)
    def _to_zeros(x: Any, y: Any, **params: Any) -> Any:
        return x if _same(x, y) else NotImplemented

    @register(primitive, Zeros, object)
    def _zeros_to(x: Any, y: Any, **params: Any) -> Any:
        return sign(y) if _same(x, y) else NotImplemented

    @register(primitive, Zeros, Zeros)
    def _zeros(x: Any, y: Any, **params: Any) -> Any:
        return _zeros_like(primitive, x, y, **params)

    @register(primitive, Diagonal, Diagonal)
    def _diagonals(x: Any, y: Any, **params: Any) -> Any:
        return Diagonal(primitive.bind(x.d, y.d, **params))

    @register(primitive, LoRA, Dense)
    def _lora(x: Any, y: Any, **params: Any) -> Any:
        return LoRA(primitive.bind(x.W, y, **params), x.A, x.B)

    @register(primitive, COO, COO)
    def _sparse(x: Any, y: Any, **params: Any) -> Any:
        if x.array_type.ndim > 2 or not _same(x, y):
            return NotImplemented
        data = dnp.concatenate([x.data, sign(y.data)])
        return COO(data, dnp.concatenate([x.indices, y.indices]), x.extent)


def _negative(y: Any) -> Any:
    return _neg(y) if isinstance(y, Structured) else -y


_sum(lax.add_p, lambda y: y)
_sum(lax.sub_p, _negative)


@register(lax.add_p, Dense, LoRA)
def _add_to_lora(x: Any, y: Any, **params: Any) -> Any:
    return LoRA(x + y.W, y.A, y.B)


# Products with a number.


def _scalar(x: Any) -> bool:
    return _array_type(x).shape == ()


@register(lax.mul_p, Dense, Structured)
def _scalar_mul(x: Any, y: Any, **params: Any) -> Any:
    return _scaled(lax.mul_p, y, x) if _scalar(x) else NotImplemented


@register(lax.mul_p, Structured, Dense)
def _mul_scalar(x: Any, y: Any, **params: Any) -> Any:
    return _scaled(lax.mul_p, x, y) if _scalar(y) else NotImplemented


@register(lax.div_p, Structured, Dense)
def _div_scalar(x: Any, y: Any, **params: Any) -> Any:
    return _scaled(lax.div_p, x, y) if _scalar(y) else NotImplemented


def _scaled(primitive: Any, x: Any, by: Any) -> Any:
    match x:
        case LoRA():
            return LoRA(primitive.bind(x.W, by), primitive.bind(x.A, by), x.B)
        case Diagonal():
            return Diagonal(primitive.bind(x.d, by))
        case COO():
            return COO(primitive.bind(x.data, by), x.indices, x.extent)
        case _:
            return NotImplemented


@register(lax.neg_p, Structured)
def _neg(x: Any, **params: Any) -> Any:
    return x if isinstance(x, Zeros) else _scaled(lax.mul_p, x, dnp.asarray(-1, x.dtype))


@register(lax.mul_p, Diagonal, Dense)
def _diagonal_mul(x: Any, y: Any, **params: Any) -> Any:
    return Diagonal(x.d * (y if _scalar(y) else dnp.diagonal(y, axis1=-2, axis2=-1)))


@register(lax.mul_p, Dense, Diagonal)
def _mul_diagonal(x: Any, y: Any, **params: Any) -> Any:
    return Diagonal((x if _scalar(x) else dnp.diagonal(x, axis1=-2, axis2=-1)) * y.d)


@register(lax.mul_p, Diagonal, Diagonal)
def _diagonal_mul_diagonal(x: Any, y: Any, **params: Any) -> Any:
    return Diagonal(x.d * y.d)


# Shapes.


@register(lax.transpose_p, Structured)
def _transpose(x: Any, *, permutation: tuple[int, ...]) -> Any:
    *front, i, j = permutation if x.array_type.ndim > 1 else (-1, -1)
    if isinstance(x, Zeros) or [*front, j, i] != list(range(x.array_type.ndim)):
        return NotImplemented
    match x:
        case LoRA():
            return LoRA(x.W.mT, x.B.mT, x.A.mT)
        case Diagonal():
            return x
        case COO():
            return COO(x.data, x.indices[..., ::-1], x.extent[::-1])
        case _:
            return NotImplemented


@register(lax.reduce_sum_p, COO)
def _sum_of_entries(x: Any, *, axes: tuple[int, ...], **params: Any) -> Any:
    return x.data.sum() if axes == (0, 1) else NotImplemented


@register(lax.reduce_sum_p, Diagonal)
def _sum_of_diagonal(x: Any, *, axes: tuple[int, ...], **params: Any) -> Any:
    if x.array_type.ndim > 2 or len(axes) == 0:
        return NotImplemented
    return x.d if len(axes) == 1 else x.d.sum()


# What zero is sent to zero by.


def _of_zeros(primitive: Any) -> None:
    @register(primitive, Zeros)
    def _zeros(x: Any, **params: Any) -> Any:
        return _zeros_like(primitive, x, **params)


for _primitive in (
    lax.abs_p, lax.asin_p, lax.asinh_p, lax.atan_p, lax.atanh_p, lax.cbrt_p, lax.ceil_p,
    lax.convert_element_type_p, lax.broadcast_in_dim_p, lax.copy_p, lax.erf_p, lax.expm1_p,
    lax.floor_p, lax.imag_p, lax.log1p_p, lax.real_p,
    lax.reduce_sum_p, lax.reshape_p, lax.rev_p, lax.round_p, lax.sign_p, lax.sin_p, lax.sinh_p,
    lax.slice_p, lax.sqrt_p, lax.square_p, lax.squeeze_p, lax.stop_gradient_p, lax.tan_p,
    lax.tanh_p, lax.transpose_p,
):  # fmt: skip
    _of_zeros(_primitive)


@register(lax.integer_pow_p, Zeros)
def _integer_pow_zeros(x: Any, *, y: int) -> Any:
    if y <= 0:
        return NotImplemented
    return _zeros_like(lax.integer_pow_p, x, y=y)


for _kinds in (
    (Zeros, Dense), (Dense, Zeros), (Zeros, Structured), (Structured, Zeros), (Zeros, Zeros)
):  # fmt: skip

    @register(lax.mul_p, *_kinds)
    def _mul_zeros(x: Any, y: Any, **params: Any) -> Any:
        return _zeros_like(lax.mul_p, x, y, **params)
