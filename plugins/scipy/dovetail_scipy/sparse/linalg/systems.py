"""Equations for iterative solvers: arguments, equations on pytrees as equations on vectors, and
derivatives, which are those of the solution and not of the iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import linear_transpose
from dovetail_base.arguments import integer
from dovetail_base.source import short_repr
from dovetail_core import MissingRule, here, is_value
from dovetail_custom_rules import custom_linear_solve
from dovetail_tree.util import tree_flatten, tree_leaves, tree_structure, tree_unflatten

from ...arguments import array, inexact

LinearMap = Callable[[Any], Any]


@dataclass
class Equation:
    """The equation ``A(x) = b`` for vectors, with the options of a method."""

    A: LinearMap
    M: LinearMap | None
    b: Any
    x0: Any
    threshold: Any  # the norm of the residual at which to stop
    maxiter: int

    def precondition(self, v: Any) -> Any:
        return v if self.M is None else self.M(v)

    def start(self) -> tuple[Any, Any]:
        """The first guess, and its residual; nan if that is not finite."""
        r = self.b - self.A(self.x0)
        return self.x0 + 0 * r, r


Method = Callable[[Equation], Any]


class Vectors:
    """Pytrees of the structure and types of one as vectors of one element type."""

    def __init__(self, tree: Any) -> None:
        self.leaves, self.tree = tree_flatten(tree)
        self.dtype = inexact("b", *self.leaves)[0].dtype
        self.size = sum(prod(x.shape) for x in self.leaves)

    def flatten(self, tree: Any) -> Any:
        parts = [lax.reshape(x, (prod(x.shape),)).astype(self.dtype) for x in tree_leaves(tree)]
        return parts[0] if len(parts) == 1 else lax.concatenate(parts, 0)

    def unflatten(self, vector: Any) -> Any:
        out, start = [], 0
        for x in self.leaves:
            end = start + prod(x.shape)
            part = lax.reshape(lax.slice_in_dim(vector, start, end), x.shape)
            real = part.dtype.kind == "c" and x.dtype.kind != "c"
            out.append((lax.real(part) if real else part).astype(x.dtype))
            start = end
        return tree_unflatten(self.tree, out)

    def on_vectors(self, f: LinearMap) -> LinearMap:
        return lambda v: self.flatten(f(self.unflatten(v)))


def solve(
    name: str, method: Method, A: Any, b: Any, x0: Any, tol: Any, atol: Any, maxiter: Any, M: Any,
    hermitian: bool = False,
) -> Any:  # fmt: skip
    """The solution of ``A(x) = b`` that ``method`` finds, differentiable in ``A`` and ``b``.

    Args:
        hermitian: whether ``A`` and ``M`` equal their conjugate transposes.

    Raises:
        TypeError: ``A`` or ``M`` is neither a function nor a matrix, or ``b`` holds no arrays.
        ValueError: shapes or structures do not fit.
    """
    A, M = _linear_map(name, "A", A), None if M is None else _linear_map(name, "M", M)
    b = _right_hand_side(name, b, A)
    vectors = Vectors(b)
    x0 = None if x0 is None else _guess(name, x0, vectors)
    limit = 10 * vectors.size if maxiter is None else integer(f"{name}: maxiter", maxiter)

    def solver(preconditioner: LinearMap | None) -> Callable[[LinearMap, Any], Any]:
        def run(matvec: LinearMap, b: Any) -> Any:
            v = vectors.flatten(b)
            start = lax.full_like(v, 0) if x0 is None else vectors.flatten(x0)
            inner = None if preconditioner is None else vectors.on_vectors(preconditioner)
            accuracy = dnp.maximum(dnp.multiply(tol, norm(v)), atol)
            equation = Equation(vectors.on_vectors(matvec), inner, v, start, accuracy, limit)
            return vectors.unflatten(method(equation))

        return run

    symmetric = hermitian and vectors.dtype.kind != "c"
    reverse = M if symmetric or M is None else _transposed(M, b)
    return custom_linear_solve(A, b, solver(M), solver(reverse), symmetric=symmetric)


def _transposed(M: LinearMap, b: Any) -> LinearMap:
    def transposed(x: Any) -> Any:
        try:
            return linear_transpose(M, b)(x)[0]
        except MissingRule:  # it has a loop of unknown length, say
            return M(x)  # which only costs iterations

    return transposed


def norm(v: Any) -> Any:
    """The Euclidean norm of a vector, real."""
    return lax.sqrt(squared_norm(v))


def squared_norm(v: Any) -> Any:
    """The sum of squared absolute values of a vector, real."""
    return lax.real(inner(v, v)) if v.dtype.kind == "c" else lax.dot(v, v)


def inner(u: Any, v: Any) -> Any:
    """The inner product of vectors, conjugate linear in the first."""
    return lax.dot(lax.conj(u) if u.dtype.kind == "c" else u, v)


def _linear_map(name: str, argument: str, A: Any) -> LinearMap:
    if callable(A):
        return A
    if (is_value(A) and hasattr(A, "shape")) or hasattr(type(A), "__jax_array__"):
        A = array(f"{name}: {argument}", A)
    elif not hasattr(type(A), "__matmul__"):
        raise TypeError(
            f"{name}: {argument} must be a function, a square matrix or an object that multiplies "
            f"vectors by @, got {short_repr(A)} of type {type(A).__name__}{here()}"
        )
    shape = getattr(A, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        raise ValueError(
            f"{name}: {argument} must be a function or a square matrix, got "
            f"{'an array' if is_value(A) else type(A).__name__} of shape {shape}{here()}"
        )
    return _Matrix(A, shape)


class _Matrix:
    """Multiplication by a matrix, or by an object that multiplies as one does.

    If the shape of an object is not known, it takes vectors of the right-hand side's shape.
    """

    def __init__(self, matrix: Any, shape: tuple[int, ...] | None) -> None:
        self.matrix, self.shape = matrix, shape

    def __call__(self, x: Any) -> Any:
        return self.matrix @ x

    def typed(self) -> list[Any]:
        """A list of a value of its element type; empty if that is not known."""
        if is_value(self.matrix):
            return [self.matrix]
        dtype = getattr(self.matrix, "dtype", None)
        return [] if dtype is None else [dnp.zeros((), dtype)]


def _right_hand_side(name: str, b: Any, A: LinearMap) -> Any:
    """The right-hand side with its leaves as arrays of floating-point numbers.

    They are promoted with the element type of a matrix ``A``.
    """
    leaves, tree = tree_flatten(b)
    arrays = [array(f"{name}: b", x) for x in leaves]
    if not arrays:
        raise TypeError(f"{name}: b must hold at least one array, got {short_repr(b)}{here()}")
    shape, others = (A.shape, A.typed()) if isinstance(A, _Matrix) else (None, [])
    if shape is not None and (len(arrays) > 1 or arrays[0].shape[:1] != shape[:1]):
        raise ValueError(
            f"{name}: A is a matrix of shape {shape}, so that b must be one array of "
            f"{shape[0]} rows, got {[x.shape for x in arrays]}{here()}"
        )
    return tree_unflatten(tree, [inexact(name, x, *others)[0] for x in arrays])


def _guess(name: str, x0: Any, vectors: Vectors) -> Any:
    if tree_structure(x0) != vectors.tree:
        raise ValueError(
            f"{name}: x0 and b must have the same structure, got {tree_structure(x0)} and "
            f"{vectors.tree}{here()}"
        )
    shapes = [np.shape(x) for x in tree_leaves(x0)]
    if shapes != [x.shape for x in vectors.leaves]:
        raise ValueError(
            f"{name}: arrays in x0 and b must have the same shapes, got {shapes} and "
            f"{[x.shape for x in vectors.leaves]}{here()}"
        )
    leaves = [
        array(f"{name}: x0", x).astype(like.dtype)
        for x, like in zip(tree_leaves(x0), vectors.leaves)
    ]
    return tree_unflatten(vectors.tree, leaves)
