"""Calls at rest of what takes functions, such as loops: compiled whole, and repeated untraced.

Tracing the functions of a small loop takes ten times as long as running it. What a call was traced
to is remembered with its first function, as long as that lives, and is used again where nothing
that its functions are made of has changed (see ``unchanged``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from marshal import dumps
from typing import Any, NamedTuple
from weakref import ref

from ..base.caches import ByIdentity, Cache
from ..base.keys import keeps_alive
from ..base.options import check_tracer_leaks, disable_jit
from ..dispatch.tracer import Tracer
from ..ir.programs import ClosedJaxpr, open_program, walk
from ..registry.discovery import registry
from ..tree.util import tree_flatten, tree_unflatten
from ..types.avals import typeof
from ..xla.arrays import ArrayImpl
from ..xla.config import trace_context
from .evaluation import eval_jaxpr
from .staging import consts_to_inputs, stage
from .unchanged import Functions, look_at, unchanged

KEPT = 64
"""How many calls are remembered of a function: with other types, other functions beside it."""

Again = Callable[..., Any]
"""``again(functions, statics, *operands)``: a call, to be traced."""
UNKNOWN: Any = object()


class _Known(NamedTuple):
    """What a call was traced to."""

    functions: Functions
    others: Sequence[ref[Any]]
    program: ClosedJaxpr
    consts: list[Any]
    out_tree: Any
    through: Sequence[tuple[int, int]]
    """Results that are operands as they are, and which."""

    @property
    def lasts(self) -> bool:
        """Whether it may be remembered."""
        mutable = any(a.is_mutable or a.has_mutable_type for a in self.program.in_avals)
        return not mutable and keeps_only_itself(self.program)

    def run(self, name: str, leaves: Sequence[Any]) -> Any:
        """The call's result."""
        operands = (*self.consts, *leaves)
        call = registry().provider("program_caller", default=None)
        if call is not None and keeps_only_itself(self.program):
            outs = call(self.program, name, operands)
        else:
            outs = eval_jaxpr(self.program.jaxpr, [], *operands)
        for at, operand in self.through:
            if operands[operand].__class__ is ArrayImpl:
                outs[at] = operands[operand]
        return tree_unflatten(self.out_tree, outs)


_known: ByIdentity[Cache[Any, _Known]] = ByIdentity()


def call_at_rest(
    name: str, again: Again, functions: Sequence[Any], statics: tuple[Any, ...], *operands: Any
) -> Any:
    """The result of ``again(functions, statics, *operands)``, called at rest, from one program.

    :data:`UNKNOWN` where there can be none, and the call is to be made as it is.

    Args:
        name: of the program.
        again: a function of the library, which makes the call in a trace.
        functions: the caller's.
        statics: Python's numbers and the like, by which calls are told apart.
        operands: pytrees of arrays.
    """
    if disable_jit.value or check_tracer_leaks.value:
        return UNKNOWN
    leaves, in_tree = tree_flatten(operands)
    try:
        avals = tuple([typeof(x) for x in leaves])
        others = tuple(map(id, functions[1:]))
        key = again, dumps(statics, 2), others, in_tree, avals, trace_context()
        mine = _known.of(functions[0], _cache)
        found = mine.get(key)
    except (TypeError, ValueError):  # no arrays, or nothing to remember it by
        return UNKNOWN
    if found is None or not (
        all(map(_is_one, found.others, functions[1:])) and unchanged(found.functions)
    ):
        found = _traced(name, again, functions, statics, leaves, in_tree, avals)
        if found is None:
            return UNKNOWN
        if found.lasts:
            mine[key] = found
    return found.run(name, leaves)


def _cache() -> Cache[Any, _Known]:
    return Cache(KEPT)


def _is_one(known: ref[Any], f: Any) -> bool:
    return known() is f


def _traced(
    name: str, again: Again, functions: Sequence[Any], statics: Any, leaves: Sequence[Any],
    in_tree: Any, avals: Sequence[Any],
) -> _Known | None:  # fmt: skip
    """The call as a program; None where it may be another the next time."""
    parts = look_at(functions)
    if parts is None or any(isinstance(x, Tracer) for x in leaves):
        return None
    if any(a.is_mutable or a.has_mutable_type for a in avals):
        return None
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        found, tree = tree_flatten(again(functions, statics, *tree_unflatten(in_tree, leaves)))
        trees[:] = [tree]
        return found

    jaxpr, consts = stage(flat, avals, name)
    if any(isinstance(c, Tracer) for c in consts):  # which has ended
        return None
    program = consts_to_inputs(jaxpr)
    places: dict[Any, int] = {v: i for i, v in enumerate(program.invars)}
    through = [(i, places[v]) for i, v in enumerate(program.outvars) if v in places]
    others = tuple(map(ref, functions[1:]))
    # What functions changed while they were traced, as a counter, is no reason to trace them again.
    parts = look_at(functions) or parts
    return _Known(parts, others, program, consts, trees[0], through)


def keeps_only_itself(program: ClosedJaxpr) -> bool:
    """Whether remembering a program would keep alive nothing that a call has made, as functions."""
    return program.memo("keeps only itself", lambda: _keeps_only_itself(program))


def _keeps_only_itself(program: ClosedJaxpr) -> bool:
    for p in walk(program):
        for e in open_program(p).eqns:
            if e.primitive.anonymous or any(map(keeps_alive, e.params.values())):
                return False
    return True
