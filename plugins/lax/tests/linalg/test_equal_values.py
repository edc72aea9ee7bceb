"""Derivatives of decompositions where values are equal, and at any scale of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad, hessian, jacfwd, jacrev
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

WEIGHTS = np.arange(9.0).reshape(3, 3)


def _orthogonal(n: int) -> Any:
    return np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]


def _put_together(a: Any) -> Any:
    u, s, vh = dnp.linalg.svd(a, full_matrices=False)
    return dnp.linalg.norm((u * s) @ vh)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norm_of_a_product_of_factors_with_equal_singular_values(dtype: Any) -> None:
    with enable_x64(True):
        for a in (np.eye(3), 2 * _orthogonal(3), np.eye(4)[:, :2], 3 * np.eye(4)[:2]):
            a, most = a.astype(dtype), 50 * np.finfo(dtype).eps
            wanted = a / np.linalg.norm(a)
            np.testing.assert_allclose(grad(_put_together)(a), wanted, atol=most)
            stack = np.stack([a, 2 * a])
            np.testing.assert_allclose(jit(vmap(grad(_put_together)))(stack)[1], wanted, atol=most)


def test_orthogonal_factor_at_orthogonal_matrices() -> None:
    """With U Vᴴ = Q at A = s Q, the derivative along dA is that of the polar decomposition:
    Q (Qᵀ dA - dAᵀ Q) / (2 s)."""

    def orthogonal(a: Any) -> Any:
        u, _, vh = dnp.linalg.svd(a)
        return ((u @ vh) * WEIGHTS).sum()

    with enable_x64(True):
        q = _orthogonal(3)
        wanted = (WEIGHTS - q @ WEIGHTS.T @ q) / 4
        np.testing.assert_allclose(grad(orthogonal)(2 * q), wanted, atol=1e-14)


def test_projection_on_a_space_of_equal_eigenvalues() -> None:
    """P = V Vᵀ of the first two vectors: dP = P dA (A - 1)⁻¹ and its transpose, outside of it."""

    def projected(a: Any) -> Any:
        v = dnp.linalg.eigh(a)[1][:, :2]
        return ((v @ v.T) * WEIGHTS).sum()

    with enable_x64(True):
        q = _orthogonal(3)
        a = q @ np.diag([1.0, 1.0, 5.0]) @ q.T
        a = (a + a.T) / 2
        inside, outside = q[:, :2] @ q[:, :2].T, np.outer(q[:, 2], q[:, 2])
        even = (WEIGHTS + WEIGHTS.T) / 2
        wanted = -(inside @ even @ outside + outside @ even @ inside) / 4
        np.testing.assert_allclose(grad(projected)(a), wanted, atol=1e-13)


def _exponential(a: Any) -> Any:
    w, v = dnp.linalg.eigh(a)
    return (v * dnp.exp(w)) @ v.T


def test_functions_of_matrices_at_equal_eigenvalues_are_right_or_not_a_number() -> None:
    with enable_x64(True):
        eye = np.eye(3)
        result = grad(lambda a: dnp.trace(_exponential(a)))(eye)
        np.testing.assert_allclose(result, np.e * eye, rtol=1e-14)
        # Beside the diagonal it is that of the exponential, which the decomposition cannot know.
        assert np.isnan(grad(lambda a: _exponential(a).sum())(eye)).all()
        assert np.isnan(jacfwd(lambda a: _exponential(a).sum())(eye)).any()


@pytest.mark.parametrize("values", [[0.6, 0.6, 0.6], [1.0, 1.0, 2.0]])
def test_no_derivative_at_equal_eigenvalues_is_a_wrong_number(values: list[float]) -> None:
    """Of V g(w) Vᵀ by elements beside the diagonal, and of sums of logarithms twice.

    There the cotangent of the eigenvalues is 0 although they are used.
    """
    a = np.diag(values)
    beside = 1 - np.eye(3)
    with enable_x64(True):
        f = lambda a: (_exponential(a) * beside).sum()  # noqa: E731
        quotients = np.subtract.outer(np.exp(values), np.exp(values))
        same = np.equal.outer(values, values)
        gaps = np.where(same, 1, np.subtract.outer(values, values))
        slopes = np.where(same, np.exp(values)[:, None], quotients / gaps)
        _right_or_nan(grad(f)(a), slopes * beside)
        _right_or_nan(jacfwd(f)(a), slopes * beside)
        g = lambda a: dnp.log(dnp.linalg.eigvalsh(a)).sum()  # noqa: E731
        inverse = np.linalg.inv(a)
        wanted = -np.einsum("ik,jl->ijkl", inverse, inverse)
        wanted = (wanted + wanted.swapaxes(2, 3)) / 2
        for one in (grad, jacfwd):
            for two in (jacfwd, jacrev):
                result = _right_or_nan(jit(two(one(g)))(a), wanted)
                places = np.einsum("iijj->ij", result)
                np.testing.assert_allclose(places, np.einsum("iijj->ij", wanted), rtol=1e-13)


def _right_or_nan(result: Any, wanted: Any) -> Any:
    result = np.asarray(result)
    np.testing.assert_allclose(result, np.where(np.isnan(result), np.nan, wanted), atol=1e-13)
    return result


def test_hessian_of_a_sum_over_equal_eigenvalues() -> None:
    with enable_x64(True):
        f = lambda a: dnp.log(dnp.linalg.eigvalsh(a)).sum()  # noqa: E731
        np.testing.assert_allclose(grad(f)(0.6 * np.eye(2)), np.eye(2) / 0.6, rtol=1e-14)
        result = np.asarray(hessian(f)(0.6 * np.eye(2)))
        for i in range(2):
            np.testing.assert_allclose(result[i, i, i, i], -1 / 0.36, rtol=1e-14)
        apart = np.array([[2.0, 1.0], [1.0, 3.0]])
        inverse = np.linalg.inv(apart)
        wanted = -np.einsum("ik,jl->ijkl", inverse, inverse)
        wanted = (wanted + wanted.swapaxes(2, 3)) / 2
        np.testing.assert_allclose(hessian(f)(apart), wanted, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-20, 1e30])
def test_hessians_of_singular_values_at_any_scale(scale: float) -> None:
    a = np.array([[1, 2], [3, 4]], np.float32)
    f = lambda x: dnp.linalg.svd(x, compute_uv=False)[0]  # noqa: E731
    wanted = hessian(f)(a)
    result = jit(hessian(f))(a * np.float32(scale)) * np.float32(scale)
    np.testing.assert_allclose(result, wanted, atol=2e-6)
