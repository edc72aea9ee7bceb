"""The row ``hi_tangent``: the derivative of an operation that has a backward rule, as a linear map.

Its transpose is the backward rule. Forward, it is the transpose of that rule, which is linear in
the cotangent; so an operation with a backward rule alone has forward mode, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dovetail_ad import LinearTrace, backward_pass, is_linear
from dovetail_core import MissingRule, Primitive, get_trace, run_under
from dovetail_core.tree.util import tree_flatten, tree_unflatten
from dovetail_core.types.algebra import add, zeros

from .structures import checked
from .zeros import Zero, differentiable, plain

if TYPE_CHECKING:
    from .classes import VJPHiPrimitive


class GradAccum:
    """Collects the cotangents of one argument, of type ``aval``; ``needed`` says whether it is."""

    __slots__ = ("aval", "needed", "value", "_rule")

    def __init__(self, aval: Any, needed: bool, rule: str) -> None:
        self.aval = aval
        self.needed = needed
        self.value: Any = None
        self._rule = rule

    def accum(self, cotangent: Any) -> None:
        """Add a cotangent; None and ``Zero`` are zeros.

        Raises:
            TypeError: it is not of the type of the argument's cotangents; names both types.
        """
        cotangent = plain(cotangent)
        if cotangent is None:
            return
        checked(f"{self._rule} (what it accumulates)", cotangent, self.aval)
        if self.needed:
            self.value = cotangent if self.value is None else add(self.value, cotangent)


def pull_back(
    op: VJPHiPrimitive, res: Any, cotangents: Sequence[Any], nonzero: Sequence[bool]
) -> list[Any]:
    """Cotangents of the arguments' leaves that are ``nonzero``; None is a zero."""
    avals = [a.cotangent_type() for a in op.in_flat]
    outgrad = tree_unflatten(op.out_tree, cotangents)
    if op.has("vjp_bwd"):
        accums = [GradAccum(a, n, f"{op!r}.vjp_bwd") for a, n in zip(avals, nonzero)]
        op.vjp_bwd(res, outgrad, *op.arguments(accums))
        return [a.value for a, n in zip(accums, nonzero) if n]
    found = op.vjp_bwd_retval(res, outgrad)
    leaves = checked(f"{op!r}.vjp_bwd_retval", found, op.arguments(avals), none=True)
    return [plain(ct) for ct, n in zip(leaves, nonzero) if n]


tangent_p = Primitive("hi_tangent", multiple_results=True)
tangent_p.is_high = lambda **params: True


def tangent_of(
    op: VJPHiPrimitive, res: Any, nonzero: tuple[bool, ...], tangents: Sequence[Any]
) -> list[Any]:
    """Tangents of the results, None for those that have none."""
    leaves, tree = tree_flatten(res)
    given = [t for t, n in zip(tangents, nonzero) if n]
    found = iter(tangent_p.bind(*leaves, *given, op=op, tree=tree, nonzero=nonzero))
    return [next(found) if differentiable(a) else None for a in op.out_flat]


@tangent_p.def_abstract_eval
def _type(*avals: Any, op: VJPHiPrimitive, tree: Any, nonzero: tuple[bool, ...]) -> Any:
    return [a.tangent_type() for a in op.out_flat if differentiable(a)]


@tangent_p.def_decomposition
def _push_forward(
    *args: Any, op: VJPHiPrimitive, tree: Any, nonzero: tuple[bool, ...]
) -> list[Any]:
    """The transpose of the backward rule."""
    n = tree.num_leaves
    trace = LinearTrace(get_trace())
    unknown = [trace.unknown(a.cotangent_type()) for a in op.out_flat if differentiable(a)]
    cts = _full(op, unknown)
    res = tree_unflatten(tree, args[:n])
    outs: Any = run_under(trace, pull_back, op, res, cts, nonzero)
    trace.ended = True
    try:
        found = backward_pass(trace, unknown, outs, args[n:])
    except MissingRule as e:
        raise MissingRule(
            f"forward mode of {op!r} is the transpose of its backward rule, which cannot be "
            f"transposed: {e} Define jvp, or lin and linearized, of {type(op).__name__}."
        ) from None
    types = _type(op=op, tree=tree, nonzero=nonzero)
    return [zeros(a) if t is None else t for t, a in zip(found, types)]


def _transpose(
    cotangents: Sequence[Any], *args: Any, op: VJPHiPrimitive, tree: Any, nonzero: Any
) -> list[Any]:
    n = tree.num_leaves
    types = [a.cotangent_type() for a in op.out_flat if differentiable(a)]
    cts = [zeros(a) if ct is None else ct for ct, a in zip(cotangents, types)]
    found = pull_back(op, tree_unflatten(tree, args[:n]), _full(op, cts), nonzero)
    live = [is_linear(x) for x in args[n:]]
    return [None] * n + [ct if use else None for ct, use in zip(found, live)]


tangent_p.rules = {"ad.transpose": _transpose}


def _full(op: VJPHiPrimitive, cotangents: Sequence[Any]) -> list[Any]:
    """A cotangent for each result, ``Zero`` for those that have none."""
    rest = iter(cotangents)
    return [next(rest) if differentiable(a) else Zero(a.cotangent_type()) for a in op.out_flat]
