"""Sparse Jacobians and Hessians: one derivative for each colour of the pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dovetail_numpy as dnp
import dovetail_tree.util as tree
from dovetail_ad import grad, jvp, vjp
from dovetail_batching import vmap
from dovetail_core import EVAL, UnexpectedTracerError, run_under, typeof

from .coloring import color
from .pattern import sparsity


@dataclass(frozen=True)
class SparseMatrix:
    """Entries of a matrix: ``values[k]`` is in line ``rows[k]``, column ``columns[k]``."""

    values: Any
    rows: Any
    columns: Any
    shape: tuple[int, int]

    def dense(self) -> Any:
        """The matrix as an array."""
        return dnp.zeros(self.shape, self.values.dtype).at[self.rows, self.columns].set(self.values)


tree.register_pytree_node(
    SparseMatrix,
    lambda m: ((m.values, m.rows, m.columns), m.shape),
    lambda shape, children: SparseMatrix(children[0], children[1], children[2], shape),
)


def sparse_jacobian(
    f: Callable[[Any], Any], *, pattern: Any = None
) -> Callable[[Any], SparseMatrix]:
    """The Jacobian of ``f`` by as few derivatives as its pattern has colours: of columns, in
    forward mode, or of lines, in reverse mode, whichever are fewer.

    Args:
        f: a function of a pytree of real arrays to one of such arrays.
        pattern: where the Jacobian may be other than zero, as :func:`sparsity` says it, which is
            asked where this is None: once per call, or per compilation under ``jit``. Give it where
            ``f`` closes over values that are being traced: then the pattern is not known yet.

    Returns: a function of ``x`` to a :class:`SparseMatrix` with a line for each element of
        ``f(x)`` and a column for each of ``x``, both in the order of flattened trees.
    """

    def jacobian(x: Any) -> SparseMatrix:
        entries = np.asarray(_pattern(f, x) if pattern is None else pattern)
        columns, lines = color(entries), color(entries.T)
        forward = columns.max(initial=-1) <= lines.max(initial=-1)
        rows, places = np.nonzero(entries)
        flat, point = _flattened(f, x)
        if forward:
            sums = vmap(lambda t: jvp(flat, (point,), (t,))[1])(_seeds(columns, point))
            values = sums[columns[places], rows]
        else:
            y, pullback = vjp(flat, point)
            values = vmap(lambda t: pullback(t)[0])(_seeds(lines, y))[lines[rows], places]
        return SparseMatrix(values, rows, places, (len(lines), len(columns)))

    return jacobian


def sparse_hessian(
    f: Callable[[Any], Any], *, pattern: Any = None
) -> Callable[[Any], SparseMatrix]:
    """The Hessian of a scalar function: the :func:`sparse_jacobian` of its gradient.

    Args:
        f: a function of a pytree of real arrays to a real scalar. ``pattern``: where the Hessian
            may be other than zero; found if None.
    """
    return sparse_jacobian(grad(f), pattern=pattern)


def _pattern(f: Callable[[Any], Any], x: Any) -> Any:
    """The pattern, at once: it depends on the type of ``x`` only."""
    try:
        return run_under(EVAL, sparsity(f), x)
    except UnexpectedTracerError as e:
        e.add_note(
            "sparse_jacobian needs the pattern while it is traced, and the function closes over a "
            "value that is not known yet. Find the pattern before, by sparsity(f)(x), and give it "
            "as pattern=."
        )
        raise


def _seeds(colors: Any, like: Any) -> Any:
    """Per colour the sum of the unit vectors of that colour."""
    each = np.arange(colors.max(initial=-1) + 1)
    return dnp.asarray(each[:, None] == colors, like.dtype)


def _flattened(f: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """``f`` as a function of one vector to one vector, and ``x`` as such a vector."""
    leaves, structure = tree.tree_flatten(x)
    avals: list[Any] = [typeof(leaf) for leaf in leaves]
    ends = np.cumsum([0, *(aval.size for aval in avals)])

    def flat(vector: Any) -> Any:
        parts = [
            vector[start:end].reshape(aval.shape).astype(aval.dtype)
            for start, end, aval in zip(ends, ends[1:], avals)
        ]
        return _vector(tree.tree_leaves(f(tree.tree_unflatten(structure, parts))))

    return flat, _vector(leaves)


def _vector(leaves: list[Any]) -> Any:
    return dnp.concatenate([dnp.ravel(leaf) for leaf in leaves])
