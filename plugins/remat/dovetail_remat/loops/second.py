"""The derivative of a reverse pass: the reverse pass of the loop beside its derivative.

Let a loop map (k, u) to A(k) u, linear in the unknown u; its reverse pass is R(k, λ) = A(k)ᵀ λ. The
loop beside its derivative maps ((k, k'), (u, u')) to (A u, A u' + (∂A k') u). With cotangents
(λ', λ) its reverse pass gives (Aᵀ λ' + (∂A k')ᵀ λ, Aᵀ λ): the derivative of R, and R.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Primitive, typeof, zeros_like_aval

from .description import Loop
from .doubling import doubled
from .machine import pick
from .primitives import is_high, reverse_p, reverse_type


def operands_of(params: dict[str, Any], operands: Sequence[Any]) -> tuple[int, int, int]:
    """Where, among the operands of a reverse pass, known ones, cotangents and the rest begin."""
    loop, unknown = Loop.of(params), params["unknown"]
    start = 1 + loop.parts(unknown)[1].count(False) if params["cached"] else 0
    middle = start + unknown.count(False)
    count = sum(loop.parts(unknown)[1]) + sum(params["given"])
    return start, middle, middle + count


def run_second(operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """``checkpointed_second`` by a reverse pass: see the primitive."""
    loop, unknown, given = Loop.of(params), params["unknown"], params["given"]
    start, middle, end = operands_of(params, operands)
    dotted = iter(params["dotted"])
    dots = iter(operands[end:])
    known = [(x, next(dots) if next(dotted) else None) for x in operands[start:middle]]
    cts = [(x, next(dots) if next(dotted) else None) for x in operands[middle:end]]
    two, flat_unknown, lifted = doubled(loop, unknown, [t is not None for _, t in known])
    flat_known = _flat(known, pick(lifted, unknown, False))
    flat_cts: list[Any] = []
    flat_given: list[bool] = []
    live = sum(loop.parts(unknown)[1])
    for x, t in cts[:live]:
        flat_cts += [zeros_like_aval(typeof(x)) if t is None else t, x]
    some = iter(cts[live:])
    for g in given:
        x, t = next(some) if g else (None, None)
        flat_given += [t is not None, g]
        flat_cts += [v for v in (t, x) if v is not None]
    outs = reverse_p.bind(
        *flat_known, *flat_cts, **two.params, unknown=flat_unknown, given=tuple(flat_given),
        cached=False,
    )  # fmt: skip
    return outs[::2] if params["rest"] else [*outs[1::2], *outs[::2]]


def _flat(pairs: Sequence[tuple[Any, Any]], lifted: Sequence[bool]) -> list[Any]:
    result: list[Any] = []
    for (x, t), dot in zip(pairs, lifted, strict=True):
        result.append(x)
        if dot:
            result.append(zeros_like_aval(typeof(x).tangent_type()) if t is None else t)
    return result


# checkpointed_second(*operands, *tangents) -> (*results, *their tangents) of checkpointed_reverse,
# with tangents for the operands marked in ``dotted`` (all but what is kept); only the tangents if
# ``rest`` is true, and then it is linear in ``tangents``.

second_p = Primitive("checkpointed_second", multiple_results=True)
second_p.is_high = is_high


@second_p.def_abstract_eval
def _second_type(*avals: Any, rest: bool, **params: Any) -> list[Any]:
    types = reverse_type(**params)
    return types if rest else types + [a.tangent_type() for a in types]


@second_p.def_decomposition
def _second(*operands: Any, **params: Any) -> list[Any]:
    return run_second(operands, params)
