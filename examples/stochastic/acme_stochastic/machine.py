"""The transformation: a function as a machine computes it that rounds at random.

A machine is a number, its seed. Lifted values are an array and the seed, which travels with all
that depends on the machine's arguments; so loops and branches need nothing of their own. How a
machine rounds depends on the seed and on the numbers in an operation, and on nothing else: like any
machine it does the same again where it is given the same, in a loop, compiled or mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_tree.util as tree
from dovetail_core import (
    Carrier,
    LiftTrace,
    Primitive,
    RuleTable,
    ShapedArray,
    algebra,
    derive,
    is_inexact,
    leading_size,
    lift_call,
    typeof,
)

from .rounding import rounded

Value = tuple[Any, Any]
"""An array and the seed of the machine; None for what is known and exact."""


class RoundingTrace(LiftTrace[Value]):
    """Runs operations by the rules of ``stochastic.rounding``."""

    __slots__ = ()
    what = "randomly_rounded"


class RoundingCarrier(Carrier[Value, bool]):
    """The structure of a value is whether it is of the machine.

    Integers and booleans are exact, so that predicates and indices are always known. The seed 0,
    which no machine has, is that of what is exact and stands where a loop has a value of a machine.
    """

    key = "stochastic"

    def trace(self, parent: Any) -> RoundingTrace:
        return RoundingTrace(parent, self, rounding_rules)

    def pure(self, x: Any) -> Value:
        return x, None

    def aval(self, value: Value) -> Any:
        return typeof(value[0])

    def structure(self, value: Value, depth: int) -> bool:
        return value[1] is not None and _rounds(value[0])

    def join_structures(self, a: bool, b: bool) -> bool:
        return a or b

    def types(self, aval: Any, structure: bool) -> tuple[Any, ...]:
        return (aval, ShapedArray((), np.dtype(np.uint32))) if structure else (aval,)

    def arrays(self, value: Value, structure: bool, depth: int) -> tuple[Any, ...]:
        x, seed = value
        if not structure:
            return (x,)
        seed = np.uint32(0) if seed is None else seed
        length = leading_size(typeof(x)) or 0
        return x, algebra().broadcast(seed, length, 0) if depth else seed

    def value(self, arrays: Sequence[Any], structure: bool, depth: int) -> Value:
        if not structure:
            return arrays[0], None
        return arrays[0], lax.reduce_max(arrays[1], (0,)) if depth else arrays[1]

    def known(self, value: Value) -> Any:
        return None if self.structure(value, 0) else value[0]


def _rounds(x: Any) -> bool:
    return is_inexact(getattr(typeof(x), "dtype", None))


def _derive(primitive: Primitive) -> Callable[..., Any]:
    """By regions or decomposition, else an operation that is rounded once for each element."""
    return derive(primitive) or rounding(primitive)


rounding_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "stochastic.rounding", derive=_derive, law="rounding"
)
"""Rules are ``rule(carrier, args, params)``, from values to a value (a list of them where the
primitive has multiple results)."""

CARRIER = RoundingCarrier()


def rounding(
    primitive: Primitive, terms: Callable[..., int] | None = None, result: bool = True
) -> Callable[..., Any]:
    """The rule of a primitive that rounds its results.

    Args:
        terms: ``terms(in_avals, **params)`` says how many terms are added or multiplied for each
            element; their own errors, and those of partial results, are errors of the operands.
        result: whether the results are rounded.
    """

    def rule(carrier: Any, args: Sequence[Value], params: dict[str, Any]) -> Any:
        seed = reduce(lax.max, [s for _, s in args if s is not None])
        xs = [x for x, _ in args]
        if terms is not None:
            width = round(np.sqrt(np.log2(max(terms(*map(typeof, xs), **params), 1))))
            xs = [rounded(x, seed, primitive.name, width=width) for x in xs]
        outs = primitive.bind(*xs, **params)
        near = [x for x, s in args if s is not None]
        each = outs if primitive.multiple_results else [outs]
        if result:
            each = [rounded(y, seed, primitive.name, near) for y in each]
        values = [(y, seed) for y in each]
        return values if primitive.multiple_results else values[0]

    return rule


def randomly_rounded(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` on a machine that rounds at random: ``randomly_rounded(f)(seed, *args, **kwargs)``.

    Each result of a floating-point operation on what depends on ``args`` is moved by one unit in
    its last place, up or down with probability 1/4 each. What only moves numbers or chooses among
    them is exact, and so are operations on integers.

    Args:
        f: a function of pytrees of arrays. Keyword arguments are known.

    Returns: a function of a seed, a ``uint32`` other than 0, and of the arguments of ``f``.
    """

    def machine(seed: Any, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.tree_flatten(args)
        found: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(*tree.tree_unflatten(structure, xs), **kwargs))
            return found[0]

        values = [(x, seed if _rounds(x) else None) for x in leaves]
        outs = lift_call(CARRIER, flat, values)
        return tree.tree_unflatten(found[1], [x for x, _ in outs])

    return machine
