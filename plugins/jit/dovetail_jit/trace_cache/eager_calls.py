"""Eager calls of functions that take functions, such as loops: compiled whole, and remembered.

Tracing the functions of a small loop takes ten times as long as running it. The program of a call
is remembered with its first function, as long as that lives, and is used again if no part of its
functions has changed (see ``fingerprints``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from marshal import dumps
from typing import Any, NamedTuple

from dovetail_base.caches import Cache, WeakTable, identity
from dovetail_base.options import check_tracer_leaks, disable_jit
from dovetail_core import (
    ClosedJaxpr,
    Tracer,
    consts_to_inputs,
    eval_jaxpr,
    evaluation,
    stage,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_unflatten
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.config import trace_context

from ..eager import evaluate_program
from .fingerprints import KEPT, Results, fingerprint_of
from .retention import is_self_contained, retains_closures

Again = Callable[..., Any]
"""``again(functions, statics, *operands)``: a call, to be traced."""


class _Known(NamedTuple):
    """The program that a call was traced to."""

    program: ClosedJaxpr
    consts: list[Any]
    out_tree: Any
    through: Sequence[tuple[int, int]]
    """Pairs (result, operand) of results that are operands, unchanged."""

    def lasts(self, functions: Sequence[Any]) -> bool:
        """Return whether it may be remembered with its functions."""
        mutable = any(a.is_mutable or a.has_mutable_type for a in self.program.in_avals)
        return not mutable and not retains_closures(self.program, functions)

    def run(self, name: str, leaves: Sequence[Any]) -> Any:
        """The call's result."""
        operands = (*self.consts, *leaves)
        if is_self_contained(self.program) and not evaluation.is_overridden():
            outs = evaluate_program(self.program, name, operands)
        else:
            outs = eval_jaxpr(self.program.jaxpr, [], *operands)
        for at, operand in self.through:
            if operands[operand].__class__ is ArrayImpl:
                outs[at] = operands[operand]
        return tree_unflatten(self.out_tree, outs)


_known: WeakTable[Cache[Any, Results[_Known]]] = WeakTable()


def eager_call(
    name: str, again: Again, functions: Sequence[Any], statics: tuple[Any, ...], *operands: Any
) -> Any:
    """The result of ``again(functions, statics, *operands)``, called eagerly, from one program.

    NotImplemented if the call cannot be one program, and is to be made as it is.

    Args:
        name: of the program.
        again: a function of the library, which makes the call in a trace.
        functions: the caller's.
        statics: Python's numbers and the like, which are part of the key.
        operands: pytrees of arrays.
    """
    if disable_jit.value or check_tracer_leaks.value:
        return NotImplemented
    leaves, in_tree = tree_flatten(operands)
    try:
        avals = tuple([typeof(x) for x in leaves])
        key = again, dumps(statics, 2), in_tree, avals, trace_context()
        mine = _results(functions)
        result = mine.get(functions, key)
    except (TypeError, ValueError):  # no arrays, or nothing to remember it by
        return NotImplemented
    if result is None:
        result = _traced(name, again, functions, statics, leaves, in_tree, avals)
        if result is None:
            return NotImplemented
        if result.lasts(functions):
            mine.put(functions, key, result)
    return result.run(name, leaves)


def _results(functions: Sequence[Any]) -> Results[_Known]:
    mine = _known.of(functions[0], _cache)
    others = tuple([identity(f) or id(f) for f in functions[1:]])
    result = mine.get(others)
    if result is None:
        result = mine[others] = Results()
    return result


def _cache() -> Cache[Any, Results[_Known]]:
    return Cache(KEPT)


def _traced(
    name: str, again: Again, functions: Sequence[Any], statics: Any, leaves: Sequence[Any],
    in_tree: Any, avals: Sequence[Any],
) -> _Known | None:  # fmt: skip
    """The call as a program; None if the next call may be another program."""
    if fingerprint_of(functions) is None or any(isinstance(x, Tracer) for x in leaves):
        return None
    if any(a.is_mutable or a.has_mutable_type for a in avals):
        return None
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        result, tree = tree_flatten(again(functions, statics, *tree_unflatten(in_tree, leaves)))
        trees[:] = [tree]
        return result

    jaxpr, consts = stage(flat, avals, name)
    if any(isinstance(c, Tracer) for c in consts):  # which has ended
        return None
    program = consts_to_inputs(jaxpr)
    positions: dict[Any, int] = {v: i for i, v in enumerate(program.invars)}
    through = [(i, positions[v]) for i, v in enumerate(program.outvars) if v in positions]
    return _Known(program, consts, trees[0], through)
