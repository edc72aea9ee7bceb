"""Sparse arrays as arguments of functions of dense ones: ``sparsify``, its trace and rule table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, NoReturn

import dovetail_tree.util as tree
from dovetail_core import Carrier, LiftTrace, RuleTable, here, lift_call, typeof

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
    """The attribute of either of two arrays: a flag is True if it is True for both."""
    return x and y if isinstance(x, bool) else x


def as_bcoo(x: JAXSparse) -> Any:
    """The same array in the format BCOO.

    Raises:
        NotImplementedError: its format cannot be converted.
    """
    if isinstance(x, Stored):
        return x
    convert = getattr(x, "to_bcoo", None)
    if convert is None:
        raise NotImplementedError(
            f"sparsify takes arrays of the formats BCOO and BCSR, got {type(x).__name__}{here()}"
        )
    return convert()


def with_data(x: JAXSparse, data: Any) -> Any:
    """The same array with other elements."""
    (_, *indices), rest = x.tree_flatten()
    return type(x).tree_unflatten(rest, (data, *indices))


def is_sparse(x: Any) -> bool:
    """True for a sparse array, which is a leaf of pytrees here."""
    return isinstance(x, JAXSparse)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of dense arrays as one that also takes sparse arrays.

    Inside, sparse arrays look like dense ones of their shape and dtype. Each operation on them is
    run by its rule of the table ``sparse.sparsify``, which a plugin may add to.

    Args:
        f: any function of arrays in pytrees. Keyword arguments are passed as they are.
        use_tracer: without effect: functions are never recorded first.

    Returns:
        The function. Its results are sparse if operations on sparse arrays return sparse ones.

    Raises:
        NotImplementedError: an operation has no rule for sparse arrays, or its result would be
            dense; ``sparse.todense`` makes an array dense.
    """

    @wraps(f)
    def sparse_f(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.tree_flatten(args, is_leaf=is_sparse)
        lifted = [i for i, x in enumerate(leaves) if is_sparse(x)]
        result: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            given = list(leaves)
            for i, x in zip(lifted, xs):
                given[i] = x
            out = f(*tree.tree_unflatten(structure, given), **kwargs)
            outs, out_structure = tree.tree_flatten(out, is_leaf=is_sparse)
            result[:] = [out_structure]
            return outs

        outs = lift_call(SparseCarrier(), flat, [leaves[i] for i in lifted])
        return tree.tree_unflatten(result[0], outs)

    return sparse_f
