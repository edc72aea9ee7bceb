"""Conjugate gradients and BiCGSTAB, which keep a few vectors whatever the number of iterations."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import names_itself

from ...arguments import ArrayLike
from .systems import Equation, inner, norm, solve, squared_norm


@names_itself
def cg(
    A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """Solve ``A(x) = b`` for Hermitian positive definite ``A`` by conjugate gradients.

    Args:
        A: a linear function from pytrees of the structure of ``b`` to such, a square matrix, or an
            object that multiplies as one (``A @ x``), sparse ones among them.
        b: the right-hand side, a pytree of arrays.
        x0: where to begin; by default zeros.
        tol, atol: the norm of the residual at which to stop is the greater one of ``atol`` and
            ``tol`` times the norm of ``b``.
        maxiter: the most iterations; by default ten for each element of ``b``.
        M: a Hermitian positive definite approximation of the inverse of ``A``, like ``A``.

    Returns:
        The solution, and None. Its derivatives, forward and reverse, are those of the solution of
        the equation: they are found by solving again, not by following the iterations.

    Raises:
        TypeError: ``A`` or ``M`` is neither a function nor an array, nor has ``@``, or ``A``
            returns other types than those of ``b``.
        ValueError: shapes or structures do not fit.
    """
    return solve("cg", _cg, A, b, x0, tol, atol, maxiter, M, hermitian=True), None


def _cg(eq: Equation) -> Any:
    def goes_on(state: Any) -> Any:
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
    return lax.while_loop(goes_on, step, (x, r, z, _real(inner(r, z)), 0))[0]


def _real(x: Any) -> Any:
    return lax.real(x) if x.dtype.kind == "c" else x


@names_itself
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """Solve ``A(x) = b`` for any regular ``A`` by stabilized biconjugate gradients.

    Arguments, results, derivatives and errors are those of :func:`cg`, but ``A`` and ``M`` need not
    be Hermitian. The method can break down; it then returns what it has found so far.
    """
    return solve("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M), None


def _bicgstab(eq: Equation) -> Any:
    """Van der Vorst's method, preconditioned from the right so that residuals are the true ones."""
    x, r0 = eq.start()

    def goes_on(state: Any) -> Any:
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

    return lax.while_loop(goes_on, step, (x, r0, r0, inner(r0, r0), 0))[0]


def _quotient(a: Any, b: Any) -> Any:
    """``a / b``, and 0 at a breakdown, where ``b`` is 0."""
    broken = lax.eq(b, lax.full_like(b, 0))
    return dnp.where(broken, 0, a / dnp.where(broken, 1, b))
