"""Derivatives of high operations with rules for linearization.

``hi_jvp`` is the pushforward of such an operation: one equation, evaluated by its rule for forward
mode, and split by that for reverse mode (see ``dovetail_ad.pushforwards``). ``hi_tangent`` is the
linear map of an operation with a backward rule, whose transpose is that rule. It is evaluated as
the transpose of the backward rule, which is linear in the cotangent; so an operation with only a
backward rule has forward mode as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dovetail_ad import (
    DeferredLinearization,
    SymbolicZero as Zero,
    define_pushforward,
    deinterleaved,
    has_tangent,
    interleaved_types,
    is_linear,
    transposed_call,
)
from dovetail_core import MissingRule, Primitive, add_tangents, zeros_like_aval
from dovetail_tree.util import tree_flatten, tree_unflatten

from .rule_results import checked, plain


class SplittableOperation(DeferredLinearization, Protocol):
    """An operation that is linearized on evaluation; hashable."""

    @property
    def primitive(self) -> Primitive:
        """The operation's own primitive."""
        ...


hi_jvp_p = Primitive("hi_jvp", multiple_results=True)
hi_jvp_p.is_high = lambda **params: True
define_pushforward(hi_jvp_p, lambda p: (p["rule"], p["nonzero"], dict(p["params"])))


def bind_pushforward(
    rule: SplittableOperation,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    params: dict[str, Any],
) -> tuple[Any, Any]:
    """The rule of ``ad.jvp`` of an operation that can be split."""
    nonzero = tuple(t is not None for t in tangents)
    given = [t for t in tangents if t is not None]
    result = hi_jvp_p.bind(
        *primals, *given, rule=rule, nonzero=nonzero, params=tuple(params.items())
    )
    outs, ts = deinterleaved(result)
    return (outs, ts) if rule.primitive.multiple_results else (outs[0], ts[0])


@hi_jvp_p.def_effectful_abstract_eval
def _jvp_type(
    *avals: Any, rule: SplittableOperation, nonzero: tuple[bool, ...], params: Any
) -> Any:
    result = rule.primitive.infer(avals[: len(nonzero)], dict(params))
    return interleaved_types(result.avals), result.effects


class Operation(Protocol):
    """The interface of an operation with a backward rule: see ``classes.VJPHiPrimitive``."""

    in_flat: list[Any]
    out_flat: list[Any]
    out_tree: Any

    def has(self, *methods: str) -> bool: ...
    def arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]: ...
    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None: ...
    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> tuple[Any, ...]: ...


class GradAccum:
    """The ``Accumulator`` of one cotangent, of type ``aval``, which is kept if ``needed``."""

    __slots__ = ("aval", "needed", "value", "_rule")

    def __init__(self, aval: Any, needed: bool, rule: str) -> None:
        self.aval = aval
        self.needed = needed
        self.value: Any = None
        self._rule = rule

    def accum(self, cotangent: Any) -> None:
        """Add a cotangent; None and ``Zero`` are zeros.

        Raises:
            TypeError: it does not have the type of the argument's cotangents; names both types.
        """
        cotangent = plain(cotangent)
        if cotangent is None:
            return
        checked(f"{self._rule} (what it accumulates)", cotangent, self.aval)
        if self.needed:
            self.value = cotangent if self.value is None else add_tangents(self.value, cotangent)


def pull_back(
    op: Operation, res: Any, cotangents: Sequence[Any], nonzero: Sequence[bool]
) -> list[Any]:
    """Cotangents of the arguments' leaves that are ``nonzero``; None is a zero."""
    avals = [a.cotangent_type() for a in op.in_flat]
    outgrad = tree_unflatten(op.out_tree, cotangents)
    if op.has("vjp_bwd"):
        accums = [GradAccum(a, n, f"{op!r}.vjp_bwd") for a, n in zip(avals, nonzero)]
        op.vjp_bwd(res, outgrad, *op.arguments(accums))
        return [a.value for a, n in zip(accums, nonzero) if n]
    result = op.vjp_bwd_retval(res, outgrad)
    leaves = checked(f"{op!r}.vjp_bwd_retval", result, op.arguments(avals), none=True)
    return [plain(ct) for ct, n in zip(leaves, nonzero) if n]


tangent_p = Primitive("hi_tangent", multiple_results=True)
tangent_p.is_high = lambda **params: True


def tangent_of(
    op: Operation, res: Any, nonzero: tuple[bool, ...], tangents: Sequence[Any]
) -> list[Any]:
    """Tangents of the results, None for results without one."""
    leaves, tree = tree_flatten(res)
    given = [t for t, n in zip(tangents, nonzero) if n]
    result = iter(tangent_p.bind(*leaves, *given, op=op, tree=tree, nonzero=nonzero))
    return [next(result) if has_tangent(a) else None for a in op.out_flat]


@tangent_p.def_abstract_eval
def _tangent_type(*avals: Any, op: Operation, tree: Any, nonzero: tuple[bool, ...]) -> Any:
    return [a.tangent_type() for a in op.out_flat if has_tangent(a)]


@tangent_p.def_decomposition
def _push_forward(*args: Any, op: Operation, tree: Any, nonzero: tuple[bool, ...]) -> list[Any]:
    """The transpose of the backward rule."""
    n = tree.num_leaves
    res = tree_unflatten(tree, args[:n])
    avals = [a.cotangent_type() for a in op.out_flat if has_tangent(a)]
    try:
        result = transposed_call(
            lambda *cts: pull_back(op, res, _full(op, cts), nonzero), avals, args[n:]
        )
    except MissingRule as e:
        raise MissingRule(
            f"forward mode of {op!r} is the transpose of its backward rule, which cannot be "
            f"transposed: {e} Define jvp, or lin and linearized, of {type(op).__name__}."
        ) from None
    types = _tangent_type(op=op, tree=tree, nonzero=nonzero)
    return [zeros_like_aval(a) if t is None else t for t, a in zip(result, types)]


def _transpose(
    cotangents: Sequence[Any], *args: Any, op: Operation, tree: Any, nonzero: Any
) -> list[Any]:
    n = tree.num_leaves
    types = [a.cotangent_type() for a in op.out_flat if has_tangent(a)]
    cts = [zeros_like_aval(a) if ct is None else ct for ct, a in zip(cotangents, types)]
    result = pull_back(op, tree_unflatten(tree, args[:n]), _full(op, cts), nonzero)
    live = [is_linear(x) for x in args[n:]]
    return [None] * n + [ct if use else None for ct, use in zip(result, live)]


tangent_p.rules = {"ad.transpose": _transpose}


def _full(op: Operation, cotangents: Sequence[Any]) -> list[Any]:
    """A cotangent for each result, ``Zero`` for results without one."""
    rest = iter(cotangents)
    return [next(rest) if has_tangent(a) else Zero(a.cotangent_type()) for a in op.out_flat]
