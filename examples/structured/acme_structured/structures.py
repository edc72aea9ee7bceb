"""The structured arrays of this package: a low-rank update, diagonal, sparse and zero arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail.numpy as dnp
from dovetail_core import typeof

from .values import Structured, make, make_p, named_parts, part, structure


class Matrix(Structured):
    """A matrix that knows how to multiply: a subclass has ``contract``."""

    def contract(self, axis: int, x: Any, dot: Any) -> Any:
        """Sum over ``axis`` of this matrix and the first of ``x``: what is left of both, in order.

        ``dot(x, y, i, j)`` contracts axis ``i`` of one array with axis ``j`` of another.
        """
        raise NotImplementedError


@structure
class LoRA(Matrix):
    """``W + A @ B``, where W does not change: the gradient has parts A and B only."""

    W: Any = part(2, frozen=True)
    A: Any = part(2)
    B: Any = part(2)

    @property
    def core(self) -> tuple[int, ...]:
        return self.W.shape[-2:]

    def dense(self) -> Any:
        return self.W + self.A @ self.B

    def contract(self, axis: int, x: Any, dot: Any) -> Any:
        first, last = (self.B, self.A) if axis else (self.A, self.B)
        return dot(self.W, x, axis, 0) + dot(last, dot(first, x, axis, 0), axis, 0)


@structure
class Diagonal(Matrix):
    """A diagonal matrix."""

    d: Any = part(1)

    @property
    def core(self) -> tuple[int, ...]:
        return self.d.shape[-1:] * 2

    def dense(self) -> Any:
        return self.d[..., None] * dnp.eye(self.core[0], dtype=self.d.dtype)

    def contract(self, axis: int, x: Any, dot: Any) -> Any:
        return self.d.reshape(-1, *[1] * (x.ndim - 1)) * x


@structure
class COO(Matrix):
    """A sparse matrix: entries ``data`` at ``indices``, a row and a column each; they add up."""

    data: Any = part(1)
    indices: Any = part(2, frozen=True)
    extent: tuple[int, ...]

    @property
    def core(self) -> tuple[int, ...]:
        return self.extent

    def dense(self) -> Any:
        front = self.data.shape[:-1]
        at = tuple(dnp.indices(front, sparse=True)) if front else ()
        places = (*(i[..., None] for i in at), self.indices[..., 0], self.indices[..., 1])
        return dnp.zeros((*front, *self.extent), self.data.dtype).at[places].add(self.data)

    def contract(self, axis: int, x: Any, dot: Any) -> Any:
        entries = self.data.reshape(-1, *[1] * (x.ndim - 1)) * x[self.indices[:, axis]]
        rows = dnp.zeros((self.extent[1 - axis], *x.shape[1:]), entries.dtype)
        return rows.at[self.indices[:, 1 - axis]].add(entries)


@structure
class Zeros(Structured):
    """An array of zeros. ``empty`` has no element; it says the element type."""

    empty: Any = part(1)
    extent: tuple[int, ...]

    @property
    def core(self) -> tuple[int, ...]:
        return self.extent

    def dense(self) -> Any:
        return dnp.zeros(self.array_type.shape, self.empty.dtype)


def lora(W: Any, A: Any, B: Any) -> Any:
    """``W + A @ B`` for arrays ``(m, n)``, ``(m, r)`` and ``(r, n)``, or stacks of them."""
    return make(LoRA(*map(dnp.asarray, (W, A, B))))


def diagonal(d: Any) -> Any:
    """The matrix with diagonal ``d``, of shape ``(n,)``, or stacks of them."""
    return make(Diagonal(dnp.asarray(d)))


def coo(data: Any, indices: Any, shape: tuple[int, int]) -> Any:
    """The sparse matrix of ``shape`` with entries ``(k,)`` at indices ``(k, 2)``."""
    return make(COO(dnp.asarray(data), dnp.asarray(indices), (shape[0], shape[1])))


def zeros(shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """Zeros that take no memory and no time."""
    return make(Zeros(dnp.zeros((0,), dtype), tuple(shape)))


def update(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """``x`` with ``f(part, *parts of the others)`` for each part that all of them have.

    ``update(lambda p, g: p - 0.1 * g, w, gradient)`` is a step of gradient descent.
    """
    own, rest = named_parts(x), [named_parts(o) for o in others]
    new = {n: f(p, *[r[n] for r in rest]) for n, p in own.items() if all(n in r for r in rest)}
    return make_p.bind(*{**own, **new}.values(), type=typeof(x))
