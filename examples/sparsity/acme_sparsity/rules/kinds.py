"""What rules are made of: results of a primitive's types, with masks that a function makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import Primitive, algebra, is_inexact, typeof

from ..pattern import Dependence, PatternCarrier

Args = Sequence[Dependence]
Params = dict[str, Any]
Masks = Callable[[PatternCarrier, Primitive, Args, Params], Sequence[Any]]


def types(primitive: Primitive, args: Args, params: Params) -> Sequence[Any]:
    """The types of the results."""
    return primitive.infer(tuple([a.aval for a in args]), params).avals


def applied(
    masks: Masks, carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> Any:
    """The results of a primitive, with the masks that ``masks`` makes.

    What is no number, or an integer, has no derivative.
    """
    avals = types(primitive, args, params)
    if any(is_inexact(aval.dtype) for aval in avals):
        found = masks(carrier, primitive, args, params)
    else:
        found = [carrier.empty(aval) for aval in avals]
    outs = [
        Dependence(aval, None, mask if is_inexact(aval.dtype) else carrier.empty(aval))
        for aval, mask in zip(avals, found, strict=True)
    ]
    return outs if primitive.multiple_results else outs[0]


def varying(args: Args) -> list[int]:
    """The operands that are not known."""
    return [i for i, a in enumerate(args) if a.array is None]


def nonzero(x: Any) -> Any:
    """Where an array is not zero."""
    aval: Any = typeof(x)
    return lax.ne(x, aval.dtype.type(0))


def nothing(carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params) -> list[Any]:
    """No derivative."""
    avals = types(primitive, args, params)
    return [carrier.empty(aval) for aval in avals]


def everything(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> list[Any]:
    """Each result depends on all elements of all operands: that is right of all operations."""
    masks = [
        lax.reduce_or_p.bind(args[i].mask, axes=tuple(range(len(args[i].aval.shape))))
        for i in varying(args)
        if i not in primitive.traits.constant
    ]
    avals = types(primitive, args, params)
    return [carrier.union(masks, aval) for aval in avals]


def elementwise(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> list[Any]:
    """Each element depends on the operands' in its place."""
    masks = [args[i].mask for i in varying(args) if i not in primitive.traits.constant]
    (aval,) = types(primitive, args, params)
    return [carrier.union(masks, aval)]


def counted(carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params) -> list[Any]:
    """Of what is linear with no negative coefficient: itself, on a one where there is a dependence.

    Sums of ones do not cancel, so that there is a dependence wherever the result is not zero.
    Known operands in which the result is linear are zero for derivatives, the others as they are.
    """
    lifted = varying(args)
    group = primitive.traits.linear_in(lifted, len(args), params) or lifted
    known = [
        algebra().full(a.aval, 0) if i in group and i not in lifted else a.array
        for i, a in enumerate(args)
    ]

    def count(*ones: Any) -> Any:
        operands = list(known)
        for i, x in zip(lifted, ones):
            operands[i] = x
        out = primitive.bind(*operands, **params)
        return out if primitive.multiple_results else [out]

    ones = [algebra().convert(args[i].mask, args[i].aval) for i in lifted]
    return [nonzero(y) for y in vmap(count, in_axes=-1, out_axes=-1)(*ones)]


def like(other: Primitive) -> Masks:
    """The masks of an operation that depends on the same elements as another one."""

    def masks(
        carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
    ) -> Sequence[Any]:
        return counted(carrier, other, args, params)

    return masks


def rule_of(primitive: Primitive, masks: Masks) -> Callable[..., Any]:
    """The rule that gives a primitive's results the masks that ``masks`` makes."""
    return lambda carrier, args, params: applied(masks, carrier, primitive, args, params)
