"""Sparsity patterns: on which elements of the input each element of an array depends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_tree.util as tree
from dovetail_core import (
    CONTROL,
    Carrier,
    LiftTrace,
    RegionInterface,
    RuleTable,
    ShapedArray,
    algebra,
    is_inexact,
    jaxpr_as_fun,
    lift_call,
    typeof,
)


class Dependence(NamedTuple):
    """A known ``array``; or, of one whose value may depend on the input, its type and ``mask``.

    The mask has a further axis, the last one, for the elements of the input: whether the
    derivative by that element may be other than zero.
    """

    aval: Any
    array: Any
    mask: Any


Rule = Callable[["PatternCarrier", Sequence[Dependence], dict[str, Any]], Any]
pattern_rules: RuleTable[Rule] = RuleTable("sparsity.pattern")
"""Rules are ``rule(carrier, args, params)``: from operands, of which at least one is not known, to
the result (a list of them where the primitive has multiple results)."""


class PatternTrace(LiftTrace[Dependence]):
    """Runs operations on masks by the rules of ``sparsity.pattern``."""

    __slots__ = ()
    what = "sparsity"


class PatternCarrier(Carrier[Dependence, Any]):
    """Lifted values are known arrays, or masks over the ``n`` elements of the input.

    ``is_linear`` says that what it runs is the derivative of a function, which is linear in all
    that has a mask: no author's derivative says more of it than what is computed.
    """

    def __init__(self, n: int, is_linear: bool = False) -> None:
        self.n = n
        self.is_linear = is_linear
        self.key = ("sparsity", n, is_linear)

    def trace(self, parent: Any) -> PatternTrace:
        return PatternTrace(parent, self, pattern_rules)

    def pure(self, x: Any) -> Dependence:
        return Dependence(typeof(x), x, None)

    def aval(self, value: Dependence) -> Any:
        return value.aval

    def structure(self, value: Dependence, depth: int) -> Any:
        return (value.aval.dtype, value.aval.weak_type) if value.array is None else None

    def join_structures(self, a: Any, b: Any) -> Any:
        return a or b

    def types(self, aval: Any, structure: Any) -> tuple[Any, ...]:
        return (aval,) if structure is None else (ShapedArray((*aval.shape, self.n), bool),)

    def arrays(self, value: Dependence, structure: Any, depth: int) -> tuple[Any, ...]:
        return (value.array if structure is None else self.mask(value),)

    def value(self, arrays: Sequence[Any], structure: Any, depth: int) -> Dependence:
        if structure is None:
            return self.pure(arrays[0])
        aval: Any = typeof(arrays[0])
        return Dependence(ShapedArray(aval.shape[:-1], *structure), None, arrays[0])

    def known(self, value: Dependence) -> Any:
        return value.array

    def mask(self, value: Dependence) -> Any:
        """The mask of a value; that of a known one is empty."""
        return self.empty(value.aval) if value.mask is None else value.mask

    def empty(self, aval: Any) -> Any:
        """The mask of what depends on nothing."""
        return algebra().full(ShapedArray((*aval.shape, self.n), bool), False)

    def union(self, masks: Sequence[Any], aval: Any) -> Any:
        """What depends on all that these masks (of the shape of ``aval``, or scalars') say."""
        found = self.empty(aval)
        for mask in masks:
            if typeof(mask) is not typeof(found):
                for axis, size in enumerate(aval.shape):
                    mask = algebra().broadcast(mask, size, axis)
            found = algebra().max(found, mask)
        return found

    def select(self, index: Dependence, cases: Sequence[Dependence]) -> Dependence:
        """Any of the cases; on the index the result depends in steps."""
        aval = cases[0].aval
        return Dependence(aval, None, self.union([self.mask(c) for c in cases], aval))

    def lift_loop(  # type: ignore[override]
        self, primitive: Any, interface: RegionInterface, args: Any, ins: Any, predicate: Any
    ) -> list[Dependence]:
        """After any number of iterations: masks that one more iteration does not enlarge."""
        body = next(r for r in interface.regions if CONTROL not in r.results)
        avals = dict(zip(body.results, body.program.out_avals))
        loop = sorted(interface.loop)

        def variables(masks: Sequence[Any]) -> list[Dependence]:
            return [Dependence(avals[r], None, m) for (r, _), m in zip(loop, masks)]

        def enlarge(state: Any) -> Any:
            values = dict(enumerate(args)) | dict(zip([i for _, i in loop], variables(state[1])))
            outs = lift_call(self, jaxpr_as_fun(body.program), [values[i] for i in body.operands])
            new = dict(zip(body.results, outs))
            grown = [
                self.union([m, self.mask(new[r])], avals[r]) for (r, _), m in zip(loop, state[1])
            ]
            more = [algebra().any(algebra().less(a, b)) for a, b in zip(state[1], grown)]
            return algebra().any(lax.stack(more)), grown

        first = [self.mask(args[i]) for _, i in loop]
        return variables(lax.while_loop(lambda state: state[0], enlarge, (True, first))[1])


def sparsity(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The sparsity pattern of the Jacobian of ``f``, at all ``x`` of one type.

    Args:
        f: a function of a pytree of real arrays to one of arrays. It is traced, not run: what it
            closes over is known, its argument is not, and its effects do not happen.

    Returns: a function of ``x``, of which only shapes and types matter, to a boolean matrix: a
        line for each element of ``f(x)``, a column for each of ``x``, both in the order of
        flattened trees. Where it is false the derivative is zero, for all ``x``; where it is true
        it may be anything.

    Raises:
        TypeError: ``x`` has an array that is not of real floating-point numbers.
    """

    def pattern(x: Any) -> Any:
        leaves, structure = tree.tree_flatten(x)
        avals: list[Any] = [typeof(leaf) for leaf in leaves]
        carrier = PatternCarrier(sum(aval.size for aval in avals))

        def flat(*xs: Any) -> list[Any]:
            return tree.tree_leaves(f(tree.tree_unflatten(structure, xs)))

        outs = lift_call(carrier, flat, _inputs(avals, carrier.n))
        lines = [lax.reshape(carrier.mask(y), (y.aval.size, carrier.n)) for y in outs]
        return lax.concatenate([np.zeros((0, carrier.n), bool), *lines], 0)

    return pattern


def _inputs(avals: Sequence[Any], n: int) -> list[Dependence]:
    """Each element of the input depends on itself."""
    found: list[Dependence] = []
    start = 0
    for aval in avals:
        if not is_inexact(aval.dtype) or aval.dtype.kind == "c":
            raise TypeError(
                f"sparsity: an input has type {aval.str_short()}, and is to be real and of "
                "floating point. Close over what is not to be differentiated by."
            )
        own = np.zeros((aval.size, n), bool)
        own[range(aval.size), range(start, start + aval.size)] = True
        found.append(Dependence(aval, None, own.reshape(*aval.shape, n)))
        start += aval.size
    return found
