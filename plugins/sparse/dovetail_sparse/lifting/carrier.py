"""Sparse arrays in place of dense ones: the trace, its rule table, and how values are carried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from dovetail_core import Carrier, LiftTrace, RuleTable, here, typeof

from ..base import JAXSparse
from ..bcoo.stored import Stored

sparsify_rules: RuleTable[Callable[..., Any]] = RuleTable("sparse.sparsify")
"""Rules are ``rule(carrier, args, params)``: from operands, at least one of which is a sparse array
(the others are dense), to the result, sparse or dense; a list of them where there are several."""


class Layout(NamedTuple):
    """The structure of a sparse array: its class, the types of its parts, and the rest of it."""

    kind: type[Any]
    parts: tuple[Any, ...]
    rest: tuple[tuple[str, Any], ...]


class SparseTrace(LiftTrace[Any]):
    """Runs operations on sparse arrays by the rules of ``sparse.sparsify``."""

    __slots__ = ()
    what = "sparsify"


class SparseCarrier(Carrier[Any, Layout | None]):
    """Lifted values are sparse arrays, or dense ones, whose structure is None."""

    key = "sparsify"

    def trace(self, parent: Any) -> SparseTrace:
        return SparseTrace(parent, self, sparsify_rules)

    def pure(self, x: Any) -> Any:
        return x

    def aval(self, value: Any) -> Any:
        if not isinstance(value, JAXSparse):
            return typeof(value)
        data: Any = typeof(value.tree_flatten()[0][0])
        return data.update(shape=value.shape)

    def structure(self, value: Any, depth: int) -> Layout | None:
        if not isinstance(value, JAXSparse):
            return None
        parts, rest = value.tree_flatten()
        if not depth:
            return Layout(type(value), tuple(map(_strong, parts)), tuple(rest.items()))
        parts = _sliced(value)
        types = tuple(_strong(x).update(shape=x.shape[1:]) for x in parts)
        rest = rest | {"shape": value.shape[1:]}
        return Layout(type(value), types, tuple(rest.items()))

    def join_structures(self, a: Layout | None, b: Layout | None) -> Layout | None:
        if a == b:
            return a
        if a is None or b is None or (a.kind, a.parts) != (b.kind, b.parts):
            return None
        rest = [(k, _both(x, y)) for (k, x), (_, y) in zip(a.rest, b.rest)]
        return Layout(a.kind, a.parts, tuple(rest))

    def types(self, aval: Any, structure: Layout | None) -> tuple[Any, ...]:
        return (aval,) if structure is None else structure.parts

    def arrays(self, value: Any, structure: Layout | None, depth: int) -> tuple[Any, ...]:
        if structure is None:
            return (value.todense() if isinstance(value, JAXSparse) else value,)
        return tuple(_sliced(value) if depth else value.tree_flatten()[0])

    def value(self, arrays: Sequence[Any], structure: Layout | None, depth: int) -> Any:
        if structure is None:
            return arrays[0]
        rest = dict(structure.rest)
        if depth:
            rest["shape"] = (arrays[0].shape[0], *rest["shape"])
        return structure.kind.tree_unflatten(rest, arrays)

    def known(self, value: Any) -> Any:
        return None if isinstance(value, JAXSparse) else value

    def primal(self, value: Any) -> Any:
        return value.todense() if isinstance(value, JAXSparse) else value

    def may(self, predicate: Any) -> NoReturn:
        raise NotImplementedError(
            f"sparsify: the predicate of a loop is a sparse array{here()}; make it dense with "
            "todense()."
        )

    def select(self, index: Any, cases: Sequence[Any]) -> NoReturn:
        raise NotImplementedError(
            f"sparsify: the index that selects a branch is a sparse array{here()}; make it dense "
            "with todense()."
        )


def _strong(x: Any) -> Any:
    aval: Any = typeof(x)
    return aval.strong()


def _sliced(value: JAXSparse) -> tuple[Any, ...]:
    """The parts of an array that a loop sees row by row, which all have its first axis."""
    if not isinstance(value, Stored) or not value.n_batch:
        raise NotImplementedError(
            f"sparsify: a loop goes along the first axis of {value!r}, which is no batch "
            f"axis{here()}; update_layout(n_batch=1) makes it one."
        )
    return value.full_parts()


def _both(x: Any, y: Any) -> Any:
    """What holds of two arrays: a promise that one of them does not give is not given."""
    return x and y if isinstance(x, bool) else x
