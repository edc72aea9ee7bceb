"""Functions of matrices, as expressions, and their exact values.

In expressions ``numpy``, ``lax`` and ``scipy`` are modules of the package under test, ``x`` is a
matrix, and ``b`` and ``c`` are constants of its type with 2 and 4 columns. What has a sign or an
order of its own is made free of it.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp

from .lines import FIRST, SECOND, SYMMETRIC, TALL, MatrixCase, exact_matrix

_B, _C = exact_matrix(FIRST), exact_matrix(SECOND)


def _absolute(m: Any) -> Any:
    return m.apply(abs)


def _lu(a: Any) -> Any:
    """The packed factors, with the largest pivots."""
    a, n = a.copy(), a.rows
    for k in range(n):
        top = max(range(k, n), key=lambda i: abs(a[i, k]))
        for j in range(n):
            a[k, j], a[top, j] = a[top, j], a[k, j]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def _triangle(a: Any, below: bool) -> Any:
    """The part strictly below the diagonal, or the one on and above it."""
    out = a.copy()
    for i in range(a.rows):
        for j in range(a.cols):
            if (i > j) != below:
                out[i, j] = 0
    return out


def _qr(a: Any) -> tuple[Any, Any]:
    r = mp.cholesky(a.T * a).T
    return a * r**-1, r


def _svd(a: Any) -> tuple[Any, Any, Any]:
    """``u``, descending values and ``vᵀ``."""
    w, v = mp.eigsy(a.T * a)
    order = range(a.cols - 1, -1, -1)
    s = [mp.sqrt(w[k]) for k in order]
    v = mp.matrix([[v[i, k] for k in order] for i in range(a.cols)])
    return a * v * mp.diag([1 / x for x in s]), s, v.T


def _polar(a: Any) -> tuple[Any, Any]:
    u, s, vt = _svd(a)
    return u * vt, vt.T * mp.diag(s) * vt


def _pinv(a: Any) -> Any:
    return (a.T * a) ** -1 * a.T


def _sylvester(a: Any) -> Any:
    """``X`` of ``A X + X Aᵀ = C``, by all its elements at once."""
    n = a.rows
    whole = mp.matrix(n * n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                whole[i * n + j, k * n + j] += a[i, k]
                whole[i * n + j, i * n + k] += a[j, k]
    return mp.lu_solve(whole, mp.matrix([_C[i, j] for i in range(n) for j in range(n)]))


def _tridiagonal(a: Any) -> Any:
    n = a.rows
    return mp.matrix(
        [[a[i, j] if abs(i - j) < 2 else mp.mpf(0) for j in range(n)] for i in range(n)]
    )


def _updated(a: Any) -> Any:
    r, w = _triangle(a, False), a[:, 1]
    return _absolute(mp.cholesky(r.T * r + w * w.T).T)


def _eigenvector_cubes(a: Any) -> Any:
    """The sums of cubes of rows of eigenvectors of length 1."""
    v, n = mp.eig(a)[1], a.rows
    sizes = [mp.sqrt(sum(abs(v[i, j]) ** 2 for i in range(n))) for j in range(n)]
    return mp.matrix([sum((abs(v[i, j]) / sizes[j]) ** 3 for j in range(n)) for i in range(n)])


def _log_det(a: Any) -> Any:
    return mp.matrix([mp.log(abs(mp.det(a)))])


def _norm(a: Any, of: Any) -> Any:
    return mp.matrix([of(_svd(a)[1])])


def _solved(a: Any) -> Any:
    return a**-1 * _B


MATRICES: dict[str, MatrixCase] = {
    "numpy.linalg.cholesky(x)": MatrixCase(mp.cholesky, 0.5, SYMMETRIC),
    "abs(lax.linalg.cholesky_update(numpy.triu(x), x[:, 1]))": MatrixCase(_updated, 1, SYMMETRIC),
    "numpy.triu(lax.linalg.lu(x)[0])": MatrixCase(lambda a: _triangle(_lu(a), False), 1),
    "numpy.tril(lax.linalg.lu(x)[0], -1)": MatrixCase(lambda a: _triangle(_lu(a), True), 0),
    "abs(numpy.linalg.qr(x)[0])": MatrixCase(lambda a: _absolute(_qr(a)[0]), 0, TALL),
    "abs(numpy.linalg.qr(x)[1])": MatrixCase(lambda a: _absolute(_qr(a)[1]), 1, TALL),
    "numpy.linalg.eigvalsh(x)": MatrixCase(lambda a: mp.eigsy(a)[0], 1, SYMMETRIC),
    "abs(numpy.linalg.eigh(x)[1])": MatrixCase(lambda a: _absolute(mp.eigsy(a)[1]), 0, SYMMETRIC),
    "numpy.sort(numpy.linalg.eigvals(x).real)": MatrixCase(
        lambda a: mp.matrix(sorted(mp.re(w) for w in mp.eig(a)[0])), 1),
    "(abs(lax.linalg.eig(x, enable_eigvec_derivs=True)[2])**3).sum(1)": MatrixCase(
        _eigenvector_cubes, 0),
    "numpy.linalg.svdvals(x)": MatrixCase(lambda a: mp.matrix(_svd(a)[1]), 1, TALL),
    "abs(numpy.linalg.svd(x, False)[0])": MatrixCase(lambda a: _absolute(_svd(a)[0]), 0, TALL),
    "abs(numpy.linalg.svd(x, False)[2])": MatrixCase(lambda a: _absolute(_svd(a)[2]), 0, TALL),
    "numpy.linalg.inv(x)": MatrixCase(lambda a: a**-1, -1),
    "numpy.linalg.pinv(x)": MatrixCase(_pinv, -1, TALL),
    "numpy.linalg.solve(x, b)": MatrixCase(_solved, -1),
    "numpy.linalg.lstsq(x, b)[0]": MatrixCase(
        lambda a: _pinv(a) * exact_matrix(FIRST, a.rows), -1, TALL),
    "lax.linalg.triangular_solve(x, b, left_side=True)": MatrixCase(
        lambda a: _triangle(a, False) ** -1 * _B, -1),
    "scipy.linalg.solve(x, b, assume_a='pos')": MatrixCase(_solved, -1, SYMMETRIC),
    "scipy.linalg.lu_solve(scipy.linalg.lu_factor(x), b)": MatrixCase(_solved, -1),
    "numpy.linalg.det(x)": MatrixCase(lambda a: mp.matrix([mp.det(a)]), 4),
    "numpy.linalg.det(x[:3, :3])": MatrixCase(lambda a: mp.matrix([mp.det(a[:3, :3])]), 3),
    "numpy.linalg.slogdet(x)[1]": MatrixCase(_log_det, 0),
    "numpy.linalg.slogdet(x, method='qr')[1]": MatrixCase(_log_det, 0),
    "numpy.linalg.matrix_power(x, 3)": MatrixCase(lambda a: a**3, 3),
    "numpy.linalg.matrix_power(x, -2)": MatrixCase(lambda a: a**-2, -2),
    "numpy.linalg.norm(x)": MatrixCase(
        lambda a: _norm(a, lambda s: mp.sqrt(sum(v * v for v in s))), 1),
    "numpy.linalg.norm(x.ravel(), 3)": MatrixCase(lambda a: mp.matrix(
        [mp.cbrt(sum(abs(a[i, j]) ** 3 for i in range(a.rows) for j in range(a.cols)))]), 1),
    "numpy.linalg.norm(x, 2)": MatrixCase(lambda a: _norm(a, max), 1),
    "numpy.linalg.norm(x, 'nuc')": MatrixCase(lambda a: _norm(a, sum), 1),
    "numpy.linalg.cond(x)": MatrixCase(lambda a: _norm(a, lambda s: max(s) / min(s)), 0),
    "lax.linalg.tridiagonal_solve(x[0], x[1], x[2], b)": MatrixCase(lambda a: mp.matrix([
        [a[1, i] if i == j else a[0, i] if i == j + 1 else a[2, i] if j == i + 1 else mp.mpf(0)
         for j in range(a.cols)] for i in range(a.cols)]) ** -1 * _B, -1),
    "lax.linalg.qdwh(x)[0]": MatrixCase(lambda a: _polar(a)[0], 0),
    "scipy.linalg.polar(x)[1]": MatrixCase(lambda a: _polar(a)[1], 1),
    "scipy.linalg.polar(x, method='svd')[0]": MatrixCase(lambda a: _polar(a)[0], 0),
    "scipy.linalg.sqrtm(x).real": MatrixCase(mp.sqrtm, 0.5, SYMMETRIC),
    "scipy.linalg.expm(x)": MatrixCase(mp.expm, None),
    "scipy.linalg.solve_sylvester(x, x.T, c, tol=0.0)": MatrixCase(_sylvester, -1),
    "scipy.linalg.eigh_tridiagonal(numpy.diag(x), numpy.diag(x, 1), eigvals_only=True)": MatrixCase(
        lambda a: mp.eigsy(_tridiagonal(a))[0], 1, SYMMETRIC),
}  # fmt: skip
