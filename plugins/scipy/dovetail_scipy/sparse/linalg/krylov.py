"""Iterative solvers: conjugate gradients and BiCGSTAB, which keep a few vectors, and GMRES, which
keeps an orthonormal basis of the directions that it has searched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_tree.util import tree_leaves

from ...arguments import ArrayLike
from .systems import Equation, inner, norm, solve, squared_norm


@reword_errors
def gmres(
    A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
    restart: int = 20, maxiter: int | None = None, M: Any = None, solve_method: str = "batched",
) -> tuple[Any, Any]:  # fmt: skip
    """Solve ``A(x) = b`` for any regular ``A`` by the restarted method of minimal residuals.

    Args:
        A: a linear function from pytrees of the structure of ``b`` to such, a square matrix, or an
            object that multiplies as one (``A @ x``), sparse ones among them.
        b: the right-hand side, a pytree of arrays.
        x0: the first guess; by default zeros.
        tol, atol: the norm of the residual at which to stop is the greater one of ``atol`` and
            ``tol`` times the norm of ``b``.
        restart: the number of directions that a cycle searches, and keeps until its end.
        maxiter: the most cycles; by default ten for each element of ``b``.
        M: an approximation of the inverse of ``A``, like ``A``.
        solve_method: ``"batched"`` searches all directions of a cycle, then solves for the best
            combination; ``"incremental"`` keeps it up to date and stops within a cycle.

    Returns:
        The solution, and 0, or -1 if it has nan. Its derivatives, forward and reverse, are those
        of the solution of the equation: they are computed by solving again.

    Raises:
        TypeError: ``A`` or ``M`` is neither a function nor an array, nor has ``@``, or ``A``
            returns other types than those of ``b``.
        ValueError: shapes or structures do not fit, ``restart`` is not positive, or there is no
            such ``solve_method``.
    """
    methods = {"batched": _batched, "incremental": _incremental}
    if solve_method not in methods:
        raise ValueError(
            f"gmres: solve_method must be 'batched' or 'incremental', got "
            f"{short_repr(solve_method)}{here()}"
        )
    count = integer("gmres: restart", restart)
    if count < 1:
        raise ValueError(f"gmres: restart must be at least 1, got {count}{here()}")
    method = partial(_gmres, methods[solve_method], count)
    x = solve("gmres", method, A, b, x0, tol, atol, maxiter, M)
    flags = [dnp.any(dnp.isnan(leaf)) for leaf in tree_leaves(x)]
    return x, dnp.where(dnp.any(dnp.stack(flags)), -1, 0)


def _gmres(cycle: Callable[[Equation, int, Any, Any], Any], restart: int, eq: Equation) -> Any:
    """Preconditioned from the right, so that residuals are the true ones."""
    directions = min(restart, eq.b.size)

    def unfinished(state: Any) -> Any:
        _, _, size, k = state
        return lax.bitwise_and(lax.gt(size, eq.threshold), lax.lt(k, eq.maxiter))

    def step(state: Any) -> Any:
        x, r, size, k = state
        x = x + eq.precondition(cycle(eq, directions, r, size))
        r = eq.b - eq.A(x)
        return x, r, norm(r), k + 1

    x, r = eq.start()
    return lax.while_loop(unfinished, step, (x, r, norm(r), 0))[0]


def _basis(count: int, r: Any, size: Any) -> Any:
    """Room for ``count + 1`` orthonormal vectors, the first in the direction of the residual."""
    return lax.full((count + 1, r.size), 0, r.dtype).at[0].set(r / size)


def _arnoldi(eq: Equation, basis: Any, k: Any) -> tuple[Any, Any]:
    """The basis with one more vector, and the coefficients of ``A`` times the last one in it.

    Gram and Schmidt's method is applied twice, since rounding of large components remains after one
    step. If nothing but rounding remains, the space is complete, and the vector and its coefficient
    are 0.
    """
    w = eq.A(eq.precondition(basis[k]))
    scale = norm(w)
    h = dnp.zeros(basis.shape[:1], basis.dtype)
    for _ in range(2):
        part = lax.conj(basis) @ w if w.dtype.kind == "c" else basis @ w
        h, w = h + part, w - part @ basis
    left = norm(w)
    eps = float(dnp.finfo(basis.dtype).eps)
    complete = lax.le(left, scale * (10 * eps))
    w = dnp.where(complete, 0, w / dnp.where(complete, 1, left))
    left = dnp.where(complete, 0, left).astype(basis.dtype)
    return basis.at[k + 1].set(w), h.at[k + 1].set(left)


def _batched(eq: Equation, count: int, r: Any, size: Any) -> Any:
    def step(k: Any, state: Any) -> Any:
        basis, H = state
        basis, h = _arnoldi(eq, basis, k)
        return basis, H.at[:, k].set(h)

    H = dnp.zeros((count + 1, count), r.dtype)
    basis, H = lax.fori_loop(0, count, step, (_basis(count, r, size), H))
    Q, R = dnp.linalg.qr(H)
    first = Q[0].conj() * size.astype(r.dtype)
    return _combine(basis, R, first, count)


def _combine(basis: Any, R: Any, rhs: Any, count: Any) -> Any:
    """The combination of the basis whose first ``count`` coefficients solve ``R y = rhs``.

    Directions after the one that completed the space have the coefficient 0.
    """
    n = R.shape[0]
    diagonal = dnp.abs(dnp.diagonal(R))
    tiny = dnp.max(diagonal) * (10 * float(dnp.finfo(R.dtype).eps))
    used = (diagonal > tiny) & (np.arange(n) < count)
    R = dnp.where(used[:, None] & used[None], R, dnp.eye(n, dtype=R.dtype))
    rhs = dnp.where(used, rhs, 0)
    y = lax.linalg.triangular_solve(R, rhs[:, None], left_side=True, lower=False)
    return y[:, 0] @ basis[:n]


def _incremental(eq: Equation, count: int, r: Any, size: Any) -> Any:
    """Rotations keep the coefficients triangular; the rotated right-hand side ends in the norm of
    the residual."""

    def unfinished(state: Any) -> Any:
        _, _, _, rhs, k = state
        return lax.bitwise_and(lax.gt(dnp.abs(rhs[k]), eq.threshold), lax.lt(k, count))

    def step(state: Any) -> Any:
        basis, R, rotations, rhs, k = state
        basis, h = _arnoldi(eq, basis, k)
        h = lax.fori_loop(0, k, lambda i, h: _rotate(h, i, rotations[i]), h)
        rotation = _rotation(h[k], h[k + 1])
        h, rhs = _rotate(h, k, rotation), _rotate(rhs, k, rotation)
        return basis, R.at[:, k].set(h), rotations.at[k].set(rotation), rhs, k + 1

    R = dnp.zeros((count + 1, count), r.dtype)
    rotations = dnp.zeros((count, 2), r.dtype)
    rhs = dnp.zeros(count + 1, r.dtype).at[0].set(size.astype(r.dtype))
    state = (_basis(count, r, size), R, rotations, rhs, 0)
    basis, R, _, rhs, k = lax.while_loop(unfinished, step, state)
    return _combine(basis, R[:count], rhs[:count], k)


def _rotation(a: Any, b: Any) -> Any:
    """Cosine and sine of the rotation that takes ``(a, b)`` to ``(length, 0)``."""
    length = dnp.sqrt(dnp.abs(a) ** 2 + dnp.abs(b) ** 2)
    nothing = lax.eq(length, lax.full_like(length, 0))
    unit = dnp.where(nothing, 1, length)
    return dnp.stack([dnp.where(nothing, 1, a / unit), b / unit])


def _rotate(v: Any, k: Any, rotation: Any) -> Any:
    c, s = rotation[0], rotation[1]
    a, b = v[k], v[k + 1]
    return v.at[k].set(c.conj() * a + s.conj() * b).at[k + 1].set(c * b - s * a)


@reword_errors
def cg(
    A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """Solve ``A(x) = b`` for Hermitian positive definite ``A`` by conjugate gradients.

    Args:
        A: a linear function from pytrees of the structure of ``b`` to such, a square matrix, or an
            object that multiplies as one (``A @ x``), sparse ones among them.
        b: the right-hand side, a pytree of arrays.
        x0: the first guess; by default zeros.
        tol, atol: the norm of the residual at which to stop is the greater one of ``atol`` and
            ``tol`` times the norm of ``b``.
        maxiter: the most iterations; by default ten for each element of ``b``.
        M: a Hermitian positive definite approximation of the inverse of ``A``, like ``A``.

    Returns:
        The solution, and None. Its derivatives, forward and reverse, are those of the solution of
        the equation: they are computed by solving again, not from the iterations.

    Raises:
        TypeError: ``A`` or ``M`` is neither a function nor an array, nor has ``@``, or ``A``
            returns other types than those of ``b``.
        ValueError: shapes or structures do not fit.
    """
    return solve("cg", _cg, A, b, x0, tol, atol, maxiter, M, hermitian=True), None


def _cg(eq: Equation) -> Any:
    def unfinished(state: Any) -> Any:
        _, r, _, _, k = state
        return lax.bitwise_and(lax.gt(norm(r), eq.threshold), lax.lt(k, eq.maxiter))

    def step(state: Any) -> Any:
        x, r, p, gamma, k = state
        Ap = eq.A(p)
        alpha = gamma / _real(inner(p, Ap))
        x, r = x + alpha * p, r - alpha * Ap
        z = eq.precondition(r)
        after = _real(inner(r, z))
        return x, r, z + (after / gamma) * p, after, k + 1

    x, r = eq.start()
    z = eq.precondition(r)
    return lax.while_loop(unfinished, step, (x, r, z, _real(inner(r, z)), 0))[0]


def _real(x: Any) -> Any:
    return lax.real(x) if x.dtype.kind == "c" else x


@reword_errors
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """Solve ``A(x) = b`` for any regular ``A`` by stabilized biconjugate gradients.

    Arguments, results, derivatives and errors are those of :func:`cg`, but ``A`` and ``M`` need not
    be Hermitian. The method can break down; it then returns its last approximation.
    """
    return solve("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M), None


def _bicgstab(eq: Equation) -> Any:
    """Van der Vorst's method, preconditioned from the right so that residuals are the true ones."""
    x, r0 = eq.start()

    def unfinished(state: Any) -> Any:
        _, r, _, rho, k = state
        unsolved = lax.bitwise_and(lax.gt(norm(r), eq.threshold), lax.lt(k, eq.maxiter))
        return lax.bitwise_and(unsolved, lax.ne(rho, lax.full_like(rho, 0)))

    def step(state: Any) -> Any:
        x, r, p, rho, k = state
        p_hat = eq.precondition(p)
        v = eq.A(p_hat)
        alpha = _quotient(rho, inner(r0, v))
        s = r - alpha * v
        s_hat = eq.precondition(s)
        t = eq.A(s_hat)
        done = lax.le(norm(s), eq.threshold)  # and t may be zero, or noise
        omega = dnp.where(done, 0, _quotient(inner(t, s), squared_norm(t)))
        r = s - omega * t
        after = inner(r0, r)
        beta = _quotient(after * alpha, rho * omega)
        x = x + alpha * p_hat + omega * s_hat
        return x, r, r + beta * (p - omega * v), after, k + 1

    return lax.while_loop(unfinished, step, (x, r0, r0, inner(r0, r0), 0))[0]


def _quotient(a: Any, b: Any) -> Any:
    """``a / b``, and 0 at a breakdown, where ``b`` is 0."""
    broken = lax.eq(b, lax.full_like(b, 0))
    return dnp.where(broken, 0, a / dnp.where(broken, 1, b))
