"""``taken``: operands of a branch under a mapped predicate, without cotangents of other elements.

Under a mapped predicate all branches run on all elements, and results are selected. Of an element
that does not take a branch no cotangent must come out of it: the zero that goes in would become a
NaN where a derivative is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Primitive, ShapedArray, Tracer, is_inexact, typeof

from ..scalars import scalar
from .discrete import eq_p, not_p
from .moves import spread
from .reductions import reduce_or_p
from .shape import transpose_p
from .traits import describe
from .values import select_n_p

Positions = tuple[tuple[int | None, ...], ...]

taken_p = Primitive("taken", multiple_results=True)
"""taken(index, *operands): the operands themselves, as the branch of number ``case`` takes them.

Their tangents are zero for elements of which ``index``, a boolean or an integer, is not ``case``.
Each axis of ``index`` is a mapped one; ``positions`` has for each operand the index of its own axis
for that, or None if all elements share the operand: then its tangent is zero if no element takes
the branch. If ``zeroed``, as for the operands of a multilinear operation, operands that have an
axis of the index are themselves zero for the other elements once they are differentiated.
"""


@taken_p.def_abstract_eval
def _taken(index: Any, *operands: Any, case: int, positions: Positions, zeroed: bool) -> list[Any]:
    return list(operands)


@taken_p.def_decomposition
def _same(index: Any, *operands: Any, **params: Any) -> list[Any]:
    return list(operands)


def taken(index: Any, values: Sequence[Any], case: int, zeroed: bool = False) -> list[Any]:
    """Values of one element as its branch of number ``case`` takes them; see :data:`taken_p`.

    Only values that may have a derivative go through it. ``index`` is a scalar.
    """
    result, at = list(values), [i for i, x in enumerate(values) if may_vary(x)]
    if at:
        params = {"case": case, "positions": ((),) * len(at), "zeroed": zeroed}
        outs = taken_p.bind(index, *[values[i] for i in at], **params)
        for i, x in zip(at, outs):
            result[i] = x
    return result


def may_vary(x: Any) -> bool:
    """True if a value may have a derivative: it is traced, and of an inexact type."""
    if not isinstance(x, Tracer):
        return False
    aval = typeof(x)
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype)


def bind_taken(index: Any, operands: Sequence[Any], **params: Any) -> list[Any]:
    """The operands, through :data:`taken_p` where one of them may have a derivative."""
    if not any(map(may_vary, operands)):
        return list(operands)
    return taken_p.bind(index, *operands, **params)


def zeroed_operands(
    index: Any, operands: Sequence[Any], case: int, positions: Positions, zeroed: bool
) -> list[Any]:
    """The operands where they are differentiated: zero for other elements, if ``zeroed``."""
    if not zeroed:
        return list(operands)
    return [
        x if all(q is None for q in at) else zero_other_cases(index, case, at, x)
        for x, at in zip(operands, positions)
    ]


def is_case(index: Any, case: int) -> Any:
    """True where ``index``, a boolean or an integer, is ``case``."""
    if index.dtype != bool:
        return eq_p.bind(index, index.dtype.type(case))
    return index if case else not_p.bind(index)


def zero_other_cases(index: Any, case: int, position: tuple[int | None, ...], x: Any) -> Any:
    """``x``, zero for elements of which ``index`` is not ``case``."""
    mask = is_case(index, case)
    shared = tuple([k for k, at in enumerate(position) if at is None])
    if shared:
        mask = reduce_or_p.bind(mask, axes=shared)
    axes = [at for at in position if at is not None]
    if axes != sorted(axes):
        order = sorted(range(len(axes)), key=axes.__getitem__)
        mask = transpose_p.bind(mask, permutation=tuple(order))
    shape: tuple[int, ...] = typeof(x).shape  # type: ignore[attr-defined]
    if axes and len(axes) < len(shape):
        mask = spread(mask, shape, sorted(axes))
    return select_n_p.bind(mask, scalar(0.0, x.dtype), x)


describe(__name__)
