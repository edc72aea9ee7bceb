"""Results that differed from the peer's, or from SciPy's, for no good reason."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import enable_x64
from dovetail_scipy import linalg, special, stats


@pytest.mark.parametrize(("name", "x"), [("boxcox", 0.0), ("boxcox1p", -1.0)])
def test_the_transformation_has_its_limit_at_zero(name: str, x: float) -> None:
    powers = np.array([2.0, 1.0, 0.0, -1.0])
    wanted = getattr(scipy.special, name)(x, powers)
    np.testing.assert_allclose(getattr(special, name)(x, powers), wanted, rtol=1e-6)


def test_permutations_of_complex_matrices_are_real() -> None:
    a = np.array([[1, 2j], [3j, 4]], np.complex64)
    p, lower, upper = linalg.lu(a)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p @ lower @ upper, a, rtol=1e-6)
    both, upper = linalg.lu(a, permute_l=True)
    np.testing.assert_allclose(both @ upper, a, rtol=1e-6)


def test_types_of_ranks_and_counts() -> None:
    for dtype in ("float16", "complex64", "int8", "float32"):
        assert stats.rankdata(dnp.ones(3, dtype)).dtype == np.float32
    with enable_x64(True):
        assert stats.mode(dnp.ones(3)).count.dtype == np.int64


def test_factors_of_integers() -> None:
    x = dnp.array([[4, 2], [2, 5]])
    np.testing.assert_allclose(lax.linalg.cholesky(x), np.linalg.cholesky(np.asarray(x)), rtol=1e-6)
    v, w = lax.linalg.eigh(x)
    np.testing.assert_allclose(v @ np.diag(w) @ v.T, x, rtol=1e-5)
    assert v.dtype == np.float32 and lax.linalg.cholesky(dnp.eye(2, dtype=bool)).dtype == np.float32


def test_square_roots_of_narrow_matrices_are_of_complex64():
    for dtype in (np.float16, dnp.bfloat16):
        result = linalg.sqrtm(dnp.diag(dnp.array([4.0, 9.0], dtype)))
        assert result.dtype == np.complex64
        np.testing.assert_allclose(result, np.diag([2.0, 3.0]), rtol=1e-6)


def test_hypergeometric_functions_take_lists():
    np.testing.assert_allclose(
        special.hyp1f1([1.0], [2.0], [3.0]), scipy.special.hyp1f1(1, 2, 3), 1e-6
    )


def test_complex_arguments_of_real_functions_are_errors_of_values_too():
    for error in (TypeError, ValueError, NotImplementedError):
        with pytest.raises(error, match="entr takes real numbers, got complex64"):
            special.entr(1j)


def test_results_of_python_numbers_are_weakly_typed_where_those_of_jax_are():
    for f in (special.erf, special.gammaln, stats.norm.pdf, stats.cauchy.cdf):
        assert f(0.5).weak_type
    for f in (special.gamma, special.ndtr, special.spence, stats.norm.cdf, stats.uniform.cdf):
        assert not f(0.5).weak_type and f(0.5).dtype == np.float32
    assert not stats.truncnorm.logpdf(0.5, -1.0, 2.0).weak_type
