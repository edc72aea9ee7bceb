"""Minimization: problems whose solution is known, counts, limits, transformations, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import dovetail_numpy as dnp
from dovetail_backends.testing import evaluated_by_reference
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy.optimize import OptimizeResults, minimize

BFGS, LBFGS = "BFGS", "l-bfgs-experimental-do-not-rely-on-this"
METHODS = pytest.mark.parametrize("method", [BFGS, LBFGS])


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy, which need not compile; what is compiled is so where ``jit`` is asked."""
    with evaluated_by_reference():
        yield


def rosenbrock(x: Any) -> Any:
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def matyas(x: Any) -> Any:
    return 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1]


def quadratic(x: Any) -> Any:
    return 0.5 * ((x - 1) ** 2 * np.asarray([1.0, 10.0, 100.0], np.float32)).sum() - 3


def quartic(x: Any) -> Any:
    return (x**4 - 16 * x**2 + 5 * x).sum()


PROBLEMS: dict[str, tuple[Any, list[float], Any]] = {
    "rosenbrock": (rosenbrock, [-1.2, 1.0], np.ones(2)),
    "rosenbrock of 6": (rosenbrock, [0.5] * 6, np.ones(6)),
    "himmelblau": (himmelblau, [0.0, 0.0], [3, 2]),
    "himmelblau, elsewhere": (himmelblau, [-4.0, -4.0], [-3.7793102533777, -3.2831859912861]),
    "matyas": (matyas, [7.0, -3.0], [0, 0]),
    "quadratic": (quadratic, [9.0, -9.0, 4.0], np.ones(3)),
    "quartic": (quartic, [1.0, -1.0], [2.746802770609, -2.903534027771]),
    "a minimum at once": (matyas, [0.0, 0.0], [0, 0]),
}


@METHODS
@pytest.mark.parametrize("name", PROBLEMS)
def test_minima(name: str, method: str) -> None:
    f, x0, wanted = PROBLEMS[name]
    for dtype, accuracy in ((np.float32, 2e-3), (np.float64, 2e-4)):
        with enable_x64(dtype == np.float64):
            result = minimize(f, np.asarray(x0, dtype), method=method, options={"maxiter": 200})
            assert all(v.dtype == dtype for v in (result.x, result.fun, result.jac))
            np.testing.assert_allclose(result.fun, f(dnp.asarray(result.x)), rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(result.x, wanted, atol=accuracy)
        assert (result.status == 0 and result.success) or (method == LBFGS and result.status == 4)


def test_bfgs_takes_as_many_steps_as_scipys() -> None:
    x0 = np.asarray([-1.2, 1.0])
    theirs = scipy.optimize.minimize(
        scipy.optimize.rosen, x0, method="BFGS", jac=scipy.optimize.rosen_der
    )
    with enable_x64(True):
        ours = minimize(rosenbrock, x0, method=BFGS)
    assert ours.nit <= 1.25 * theirs.nit and ours.nfev <= 1.25 * theirs.nfev
    assert ours.nfev == ours.njev


def test_the_inverse_hessian_is_symmetric_and_positive() -> None:
    with enable_x64(True):
        result = minimize(quadratic, np.asarray([9.0, -9, 4]), method=BFGS, tol=1e-12)
    H = np.asarray(result.hess_inv)
    np.testing.assert_allclose(H, H.T, rtol=1e-9)
    assert np.all(np.linalg.eigvalsh(H) > 0)


@METHODS
def test_under_jit_and_vmap(method: str) -> None:
    starts = np.asarray([[0, 0], [-4, -4], [3, 2]], np.float32)
    result = jit(vmap(lambda x: minimize(himmelblau, x, method=method)))(starts)
    assert isinstance(result, OptimizeResults)
    for i, x in enumerate(starts):
        alone = minimize(himmelblau, x, method=method)
        np.testing.assert_allclose(result.x[i], alone.x, atol=1e-4)
        assert result.nit[i] == alone.nit


@METHODS
def test_further_arguments(method: str) -> None:
    result = minimize(lambda x, a, b: ((x - a) ** 2 * b).sum(), np.zeros(2, np.float32),
                     (np.float32([1, 2]), 3.0), method=method)  # fmt: skip
    np.testing.assert_allclose(result.x, [1, 2], atol=1e-5)


LIMITS: dict[str, tuple[str, dict[str, Any], int]] = {
    "iterations": (BFGS, {"maxiter": 3}, 1),
    "no iterations": (BFGS, {"maxiter": 0}, 1),
    "iterations of lbfgs": (LBFGS, {"maxiter": 3}, 1),
    "values": (LBFGS, {"maxfun": 4}, 2),
    "gradients": (LBFGS, {"maxgrad": 4}, 3),
    "gain": (LBFGS, {"ftol": 1e9}, 4),
    "gradient": (BFGS, {"gtol": 1e9}, 0),
    "norm": (BFGS, {"gtol": 1e-3, "norm": 2}, 0),
    "memory": (LBFGS, {"maxcor": 2, "maxls": 30, "ftol": 0.0, "gtol": 1e-3}, 0),
}


@pytest.mark.parametrize("name", LIMITS)
def test_why_it_stops(name: str) -> None:
    method, options, status = LIMITS[name]
    result = minimize(rosenbrock, np.float32([-1.2, 1]), method=method, options=options)
    assert result.status == status and bool(result.success) == (status == 0)
    if "iterations" in name:
        assert result.nit == options["maxiter"]


@METHODS
def test_tol_is_gtol(method: str) -> None:
    x = np.float32([-1.2, 1])
    assert minimize(rosenbrock, x, method=method, tol=1e9).nit == 0


@METHODS
def test_where_no_step_leads_down_it_says_so(method: str) -> None:
    """A kink, values that are nan, and a constant beside a slope that rounding hides."""
    x = np.float32([1.0])
    assert minimize(lambda x: dnp.abs(x).sum(), x, method=method).status == 5
    result = minimize(lambda x: dnp.where(x < 1, dnp.nan, x).sum(), x, method=method)
    assert result.status == 5 and result.x == 1 and result.fun == 1


@METHODS
def test_functions_without_a_minimum_end_at_the_limit(method: str) -> None:
    result = minimize(dnp.sum, np.zeros(2, np.float32), method=method, options={"maxiter": 5})
    assert result.status == 1 and result.fun < -1


X = np.zeros(2, np.float32)
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "fun": (lambda: minimize(3, X, method=BFGS), TypeError, "fun must be a function, got 3"),
    "args": (lambda: minimize(rosenbrock, X, 3, method=BFGS), TypeError, "args must be a tuple"),
    "method": (lambda: minimize(rosenbrock, X, method="CG"), ValueError, "must be 'BFGS' or"),
    "vector": (lambda: minimize(rosenbrock, [X, X], method=BFGS), TypeError, "at position 1"),
    "matrix": (lambda: minimize(rosenbrock, X[None], method=BFGS), TypeError, "got f32[1,2]"),
    "integers": (lambda: minimize(rosenbrock, np.arange(2), method=BFGS), TypeError, "got i32[2]"),
    "scalar": (lambda: minimize(lambda x: x, X, method=BFGS), TypeError, "a real scalar, got f32"),
    "complex": (lambda: minimize(lambda x: 1j * x[0], X, method=BFGS), TypeError, "a real scalar"),
    "option": (
        lambda: minimize(rosenbrock, X, method=BFGS, options={"eps": 1}),
        TypeError,
        "BFGS has no option 'eps'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call()
    assert text in str(e.value) and "test_optimize.py" in str(e.value)
