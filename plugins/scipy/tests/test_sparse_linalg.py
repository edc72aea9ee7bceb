"""Iterative solvers against direct ones: solutions, derivatives, transformations, bad input.

Loops are long to compile: one program of each solver is, and the reference backend runs the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from reference_backend import check_grads, run, value_of

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy.sparse.linalg import bicgstab, cg, gmres

RNG = np.random.default_rng(0)
N = 24
RANDOM = RNG.normal(size=(N, N)) / np.sqrt(N)
REGULAR = RANDOM + 2 * np.eye(N)
DEFINITE = RANDOM @ RANDOM.T + np.eye(N)
IMAGINARY = RNG.normal(size=(N, N)) / np.sqrt(N) * 1j
HERMITIAN = (RANDOM + IMAGINARY) @ (RANDOM + IMAGINARY).conj().T + np.eye(N)
B = RNG.normal(size=N)
incremental = partial(gmres, solve_method="incremental")
SOLVERS: dict[str, tuple[Any, Any, Any]] = {
    "cg": (cg, DEFINITE, HERMITIAN),
    "bicgstab": (bicgstab, REGULAR, REGULAR + IMAGINARY),
    "gmres": (gmres, REGULAR, REGULAR + IMAGINARY),
    "incremental": (incremental, REGULAR, REGULAR + IMAGINARY),
}
ALL = pytest.mark.parametrize("name", SOLVERS)


@ALL
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_solutions(name: str, dtype: Any) -> None:
    solver, real, complex = SOLVERS[name]
    kind = np.dtype(dtype).kind
    exact = complex if kind == "c" else real
    with enable_x64(np.dtype(dtype).itemsize >= (16 if kind == "c" else 8)):
        eps = float(dnp.finfo(dtype).eps)
        args = exact.astype(dtype), B.astype(dtype)
        x, info = run(lambda A, b: solver(A, b, tol=10 * eps), *args)
        assert x.dtype == dtype and (info is None or info == 0)
    np.testing.assert_allclose(x, np.linalg.solve(exact, B), rtol=0, atol=300 * eps)


@ALL
def test_trees_functions_guesses_and_preconditioners(name: str) -> None:
    solver, A, _ = SOLVERS[name]
    A = A.astype(np.float32)

    def split(v: Any) -> dict[str, Any]:
        return {"a": v[:4].reshape(2, 2), "b": v[4:]}

    def join(tree: Any) -> Any:
        return dnp.concatenate([dnp.ravel(tree["a"]), tree["b"]])

    def product(tree: Any) -> Any:
        return split(A @ join(tree))

    diagonal = np.diag(A)
    b = split(B.astype(np.float32))
    guess = split(np.ones(N, np.float32))
    M = lambda t: split(join(t) / diagonal)  # noqa: E731
    x, _ = value_of(lambda b, x0: solver(product, b, x0, tol=1e-6, M=M), b, guess)
    assert x["a"].shape == (2, 2)
    np.testing.assert_allclose(np.append(x["a"], x["b"]), np.linalg.solve(A, B), atol=2e-5)


@ALL
def test_derivatives_are_those_of_a_direct_solution(name: str) -> None:
    """Of first order in reverse and forward mode, with and without a preconditioner that is not
    symmetric; and of second order by differences."""
    solver, A, _ = SOLVERS[name]
    A, other, b = A[:8, :8], RANDOM[:8, :8], B[:8]
    M = np.diag(1 / np.diag(A)) if solver is cg else np.linalg.inv(A + 0.1 * other)

    def loss(solve: Any) -> Any:
        return lambda A, b: dnp.sum(solve(A, b) ** 3)

    with enable_x64(True):
        direct = loss(dnp.linalg.solve)
        wanted = run(grad(direct, (0, 1)), A, b)
        tangents = (other, b)
        for options in ({}, {"M": M}, {"M": lambda v: M @ v}):
            f = loss(lambda A, b: solver(A, b, tol=1e-13, **options)[0])  # noqa: B023
            result = run(grad(f, (0, 1)), A, b)
            for u, v in zip(result, wanted):
                np.testing.assert_allclose(u, v, atol=1e-9)
        pushed = [run(lambda *t: jvp(g, (A, b), t)[1], *tangents) for g in (f, direct)]  # noqa: B023
        np.testing.assert_allclose(*pushed, rtol=1e-9)
        small = A[:3, :3]
        check_grads(lambda A, b: solver(A + A.T, b, tol=1e-14)[0], (small, B[:3]))


@ALL
def test_vmap_and_jit(name: str) -> None:
    solver, A, _ = SOLVERS[name]
    A, rows = A.astype(np.float32), RNG.normal(size=(3, N)).astype(np.float32)
    result = jit(vmap(lambda b: solver(A, b, tol=1e-6)[0]))(rows)
    np.testing.assert_allclose(result, np.linalg.solve(A, rows.T).T, atol=1e-5)
    scales = np.asarray([1, 2, 4], np.float32)
    result = value_of(vmap(lambda s, b: solver(s * A, b, tol=1e-6)[0]), scales, rows)
    np.testing.assert_allclose(result, np.linalg.solve(A, rows.T).T / scales[:, None], atol=1e-5)


@ALL
def test_corners(name: str) -> None:
    """No iterations, nothing to solve, integers, what is not finite, singular matrices."""
    solver, A, _ = SOLVERS[name]
    A, b = A.astype(np.float32), B.astype(np.float32)

    def solve(*args: Any, **options: Any) -> Any:
        return value_of(lambda *args: solver(*args, **options)[0], *args)

    np.testing.assert_array_equal(solve(A, b, maxiter=0), 0 * b)
    np.testing.assert_array_equal(solve(A, 0 * b), 0 * b)
    np.testing.assert_array_equal(solve(A, b, b, tol=1e9), b)
    np.testing.assert_array_equal(solve(A, b, b, atol=1e9), b)
    x = solve(np.asarray([[2, 0], [0, 4]]), np.asarray([2, 4]))
    np.testing.assert_allclose(x, [1, 1], rtol=1e-6)
    assert np.all(np.isnan(solve(A, b * np.nan)))
    np.testing.assert_allclose(solve(np.float32([[4]]), np.float32([8])), [2], rtol=1e-6)
    if solver is not cg:
        assert np.all(np.isfinite(solve(0 * A, b, maxiter=2)))


def test_gmres_says_whether_the_solution_is_finite() -> None:
    def info(A: Any) -> Any:
        return value_of(lambda A: gmres(A, np.ones(2), maxiter=2)[1], A)

    assert info(np.eye(2)) == 0
    assert info(np.eye(2) * np.nan) == -1


def test_few_eigenvalues_take_few_iterations() -> None:
    """Krylov's space is complete after as many products as there are eigenvalues."""
    A = np.diag(np.float32([1, 1, 2, 2, 3, 3]))
    b = np.ones(6, np.float32)
    wanted = b / np.diag(A)
    result = value_of(lambda A, b: cg(A, b, maxiter=3)[0], A, b)
    np.testing.assert_allclose(result, wanted, rtol=1e-5)
    for method in ("batched", "incremental"):
        for restart in (3, 6, 50):
            solver = partial(gmres, maxiter=1, restart=restart, solve_method=method)
            np.testing.assert_allclose(value_of(solver, A, b)[0], wanted, rtol=1e-5)


def test_a_preconditioner_that_has_no_transpose() -> None:
    """It has a loop of unknown length; equations are solved and differentiated all the same."""

    def M(v: Any) -> Any:
        return lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] * 0.7, s[1] + 1), (v, 0))[0]

    A = REGULAR[:4, :4].astype(np.float32)
    b = B[:4].astype(np.float32)
    result = value_of(grad(lambda b: bicgstab(A, b, M=M, tol=1e-7)[0][0]), b)
    np.testing.assert_allclose(result, np.linalg.inv(A)[0], atol=1e-5)


class Operator:
    """Multiplies vectors, and has perhaps a shape and an element type; no pytree, no function."""

    def __init__(self, matrix: Any, shape: Any = None, dtype: Any = None) -> None:
        self.matrix = matrix
        if shape is not None:
            self.shape = shape
        if dtype is not None:
            self.dtype = np.dtype(dtype)

    def __matmul__(self, x: Any) -> Any:
        return dnp.matmul(self.matrix, x)


class Converting:
    """Stands for an array."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __jax_array__(self) -> Any:
        return dnp.asarray(self.matrix)


OPERATORS: dict[str, Any] = {
    "bare": Operator,
    "with a shape": lambda A: Operator(A, A.shape),
    "with a type": lambda A: Operator(A, A.shape, A.dtype),
    "stands for an array": Converting,
}


@ALL
@pytest.mark.parametrize("how", OPERATORS)
def test_operators_that_multiply(name: str, how: str) -> None:
    solver, whole, _ = SOLVERS[name]
    A, b = whole[:4, :4].astype(np.float32), B[:4].astype(np.float32)
    make = OPERATORS[how]

    def solve(A: Any, b: Any) -> Any:
        return solver(make(A), b, M=make(dnp.diag(1 / dnp.diag(A))), tol=1e-7)[0]

    exact = np.linalg.solve(A, b)
    np.testing.assert_allclose(run(solve, A, b), exact, rtol=2e-5, atol=2e-6)
    result = value_of(grad(lambda A, b: dnp.sum(solve(A, b) ** 2), (0, 1)), A, b)
    pulled = np.linalg.solve(A.T, 2 * exact)
    np.testing.assert_allclose(result[1], pulled, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result[0], -np.outer(pulled, exact), rtol=1e-4, atol=1e-5)
    result = value_of(lambda A, b: jvp(lambda b: solve(A, b), (b,), (b,))[1], A, b)
    np.testing.assert_allclose(result, exact, rtol=2e-5, atol=2e-6)


def test_operators_at_rest_and_mapped() -> None:
    A, bs = DEFINITE[:3, :3].astype(np.float32), np.ones((2, 3), np.float32)
    result = vmap(lambda b: cg(Operator(A, (3, 3)), b, tol=1e-7)[0])(bs)
    exact = np.linalg.solve(A, bs[0])
    np.testing.assert_allclose(result, [exact] * 2, rtol=1e-4)
    np.testing.assert_allclose(cg(Operator(A), bs[0], tol=1e-7)[0], exact, rtol=1e-4)


def test_the_type_of_an_operator_promotes_the_right_hand_side() -> None:
    with enable_x64(True):
        A = DEFINITE[:3, :3]
        result = value_of(lambda b: cg(Operator(A, (3, 3), A.dtype), b)[0], np.ones(3, np.float32))
        assert result.dtype == np.float64
        result = value_of(lambda b: cg(Operator(A, (3, 3), A.dtype), b)[0], np.ones(3, np.int32))
        assert result.dtype == np.float64


def test_sparse_matrices() -> None:
    from dovetail_sparse import BCOO, BCSR

    A, b = DEFINITE[:4, :4].astype(np.float32), B[:4].astype(np.float32)
    exact = np.linalg.solve(A, b)
    for kind in (BCOO, BCSR):
        matrix = kind.fromdense(A)
        np.testing.assert_allclose(jit(lambda A, b: cg(A, b, tol=1e-7)[0])(matrix, b), exact,
                                   rtol=2e-5, atol=2e-6)  # fmt: skip


B2, EYE = np.ones(2, np.float32), np.eye(2, dtype=np.float32)
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "A": (lambda: cg(3, B2), TypeError, "cg: A must be a function, a square matrix or an"),
    "M": (lambda: gmres(EYE, B2, M="x"), TypeError, "multiplies vectors by @, got 'x' of type str"),
    "shape": (lambda: bicgstab(np.ones((2, 3)), B2), ValueError, "got an array of shape (2, 3)"),
    "operator": (lambda: cg(Operator(EYE, (3, 2)), B2), ValueError, "got Operator of shape (3, 2)"),
    "rows": (lambda: cg(Operator(EYE, (2, 2)), np.ones(3)), ValueError, "one array of 2 rows, got"),
    "b": (lambda: cg(EYE, np.ones(3)), ValueError, "one array of 2 rows, got [(3,)]"),
    "no b": (lambda: cg(EYE, None), TypeError, "cg: b must hold at least one array, got None"),
    "text": (lambda: cg(EYE, "x"), TypeError, "cg: b requires an array or a scalar"),
    "x0": (lambda: cg(EYE, B2, (B2,)), ValueError, "x0 and b must have the same structure"),
    "x0 shape": (lambda: cg(EYE, B2, B2[:1]), ValueError, "must have the same shapes, got [(1,)]"),
    "result": (lambda: cg(lambda x: x[:1], B2), TypeError, "matvec returned f32[1], where b has"),
    "maxiter": (lambda: cg(EYE, B2, maxiter=1.5), TypeError, "cg: maxiter must be an integer"),
    "restart": (lambda: gmres(EYE, B2, restart=0), ValueError, "restart must be at least 1, got 0"),
    "method": (lambda: gmres(EYE, B2, solve_method="x"), ValueError, "or 'incremental', got 'x'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call()
    assert text in str(e.value) and "test_sparse_linalg.py" in str(e.value)
