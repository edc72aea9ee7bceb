"""A function's values are kept; where slices of inputs change, what depends on them is renewed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

import dovetail_tree.util as tree
from dovetail import numpy as dnp, tree_util
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Interpreter,
    Primitive,
    RuleTable,
    consts_to_inputs,
    here,
    stage,
    stage_closed,
    typeof,
)

STATIC = {"static": True}


class Change(NamedTuple):
    """A value before and after, and the slices along axis 0 that differ (None: perhaps all).

    ``rows`` are distinct; the length of the axis may stand in for some of them, which are none.
    """

    old: Any
    new: Any
    rows: Any = None


Rule = Callable[..., Any]
"""``rule(compute, old, args, params)``: from arguments, of which at least one is a :class:`Change`,
and the result so far to the change of the result (for a primitive with multiple results, of lists).
``compute(primitive, args, params)`` applies an operation and counts. NotImplemented: once more."""

update_rules: RuleTable[Rule] = RuleTable("delta.update")


@update_rules.deriver
def _derive(primitive: Primitive) -> Rule | None:
    """Of an elementwise operation the slices that changed in any operand are computed."""
    if not primitive.traits.elementwise or primitive.multiple_results:
        return None

    def rule(compute: Any, old: Any, args: Any, params: Any) -> Any:
        rows = common_rows(args)
        if rows is None:
            return NotImplemented
        parts = [take(x, rows) if dnp.ndim(x) else x for x in map(new_of, args)]
        return replaced(old, rows, compute(primitive, parts, params))

    return rule


def new_of(x: Any) -> Any:
    """The value of an argument now."""
    return x.new if isinstance(x, Change) else x


def old_of(x: Any) -> Any:
    """The value of an argument before."""
    return x.old if isinstance(x, Change) else x


def common_rows(args: Sequence[Any]) -> Any:
    """The slices that changed in any of the arguments; None for all, or if it does not pay."""
    changes = [x for x in args if isinstance(x, Change)]
    if any(c.rows is None for c in changes):
        return None
    n, first = changes[0].new.shape[0], changes[0].rows
    if all(c.rows is first for c in changes):
        return first
    rows = dnp.concatenate([c.rows for c in changes])
    return dnp.unique(rows, size=len(rows), fill_value=n) if len(rows) < n else None


def take(x: Any, rows: Any, axis: int = 0) -> Any:
    """Slices of ``x``; zeros for rows that are none."""
    return dnp.take(x, rows, axis=axis, mode="fill", fill_value=0)


def replaced(old: Any, rows: Any, part: Any) -> Change:
    """The change of a value of which slices are new."""
    return Change(old, old.at[rows].set(part, mode="drop"), rows)


@tree_util.register_dataclass
@dataclass(frozen=True)
class Cache:
    """All that a function computed; a pytree. ``size`` is the count of elements it took."""

    inputs: list[Any]
    values: list[list[Any]]
    program: ClosedJaxpr = field(metadata=STATIC)
    structure: Any = field(metadata=STATIC)
    arguments: int = field(metadata=STATIC)
    size: int = field(metadata=STATIC)


class _Keeping(Interpreter):
    """Computes and keeps the results of each equation; calls and decompositions are entered."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[list[Any]] = []
        self.count = 0

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        primitive = eqn.primitive
        if primitive.regions is not None and not primitive.anonymous:
            interface = primitive.regions(eqn.params)
            if not (interface.is_loop or interface.is_choice):
                (region,) = interface.regions
                outs = self.run(region.program, [args[i] for i in region.operands])
                found = dict(zip(region.results, outs))
                return [found[i] for i in range(len(found))]
        elif primitive.decomposition is not None and update_rules.get(primitive) is None:
            return self.run(_decomposed(eqn), args)
        if eqn.effects:
            raise TypeError(f"{primitive.name}{here()} has an effect; values alone can be kept")
        outs = self.results(eqn, args)
        self.kept.append([new_of(x) for x in outs])
        return outs

    def results(self, eqn: Eqn, args: list[Any]) -> list[Any]:
        out = self.compute(eqn.primitive, args, eqn.params)
        return out if eqn.primitive.multiple_results else [out]

    def compute(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        """Apply an operation; counts what it reads or writes, whichever is more."""
        out = primitive.bind(*args, **params)
        outs = out if primitive.multiple_results else [out]
        self.count += max(sum(map(_size, args)), sum(map(_size, outs)))
        return out


class _Updating(_Keeping):
    """Arguments and results are values, where nothing changed, or changes."""

    def __init__(self, values: Sequence[list[Any]]) -> None:
        super().__init__()
        self.before = iter(values)

    def results(self, eqn: Eqn, args: list[Any]) -> list[Any]:
        old = next(self.before)
        if not any(isinstance(x, Change) for x in args):
            return old
        rule = update_rules.get(eqn.primitive)
        several = eqn.primitive.multiple_results
        if rule is not None:
            found = rule(self.compute, old if several else old[0], args, eqn.params)
            if found is not NotImplemented:
                return found if several else [found]
        return list(map(Change, old, super().results(eqn, [new_of(x) for x in args])))


def _decomposed(eqn: Eqn) -> ClosedJaxpr:
    """The program of what an operation is made of."""
    primitive = eqn.primitive

    def run(*xs: Any) -> list[Any]:
        assert primitive.decomposition is not None
        out = primitive.decomposition(*xs, **eqn.params)
        return out if primitive.multiple_results else [out]

    return stage_closed(run, [x.aval for x in eqn.invars], primitive.name)


def _size(x: Any) -> int:
    return prod(np.shape(x))


def incremental(f: Callable[..., Any]) -> Callable[..., tuple[Any, Cache]]:
    """``incremental(f)(*args)`` is the result of ``f`` and a :class:`Cache` for :func:`update`.

    Raises:
        TypeError: an operation of ``f`` has an effect, on a mutable reference say.
    """

    def kept(*args: Any) -> tuple[Any, Cache]:
        leaves, structure = tree.tree_flatten(args)
        found: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(*tree.tree_unflatten(structure, xs)))
            return found[0]

        jaxpr, consts = stage(flat, [typeof(x) for x in leaves], getattr(f, "__name__", "f"))
        program, inputs = consts_to_inputs(jaxpr), [dnp.asarray(x) for x in [*consts, *leaves]]
        keeping = _Keeping()
        outs = keeping.run(program, inputs)
        result = tree.tree_unflatten(found[1], outs)
        cache = Cache(inputs, keeping.kept, program, found[1], len(leaves), keeping.count)
        return result, cache

    return kept


def update(cache: Cache, changes: Mapping[int, tuple[Any, Any]]) -> tuple[Any, Cache, int]:
    """The result where slices of inputs are others.

    Args:
        changes: by the number of an array among the arguments (the leaves of their pytrees, in
            order) an index along its axis 0 and the values there. An index is an integer, an array
            of integers or a slice; ``...`` is for the whole array.

    Returns: the result, the cache of the next update, and how many elements were computed. The
        result is that of ``f``, up to rounding: sums add the differences of changed slices.

    Raises:
        IndexError: there is no such argument.
    """
    values: list[Any] = list(cache.inputs)
    offset = len(values) - cache.arguments
    for i, (index, new) in changes.items():
        if not 0 <= i < cache.arguments:
            raise IndexError(f"update: there is no argument {i}, only {cache.arguments} of them")
        values[offset + i] = _changed(values[offset + i], index, new)
    updating = _Updating(cache.values)
    outs = updating.run(cache.program, values)
    inputs = [new_of(x) for x in values]
    result = tree.tree_unflatten(cache.structure, [new_of(x) for x in outs])
    return result, replace(cache, inputs=inputs, values=updating.kept), updating.count


def _changed(old: Any, index: Any, new: Any) -> Change:
    new = old.at[index].set(new)
    if index is ... or not old.ndim:
        return Change(old, new)
    n = len(old)
    rows = dnp.atleast_1d(dnp.arange(n)[index])
    distinct = dnp.unique(rows, size=len(rows), fill_value=n)
    return Change(old, new, distinct if len(rows) < n else None)
