"""Products, einsum, linear algebra and Fourier transforms against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import jit, make_jaxpr

PRODUCTS = """\
xp.matmul(f2, sq)
xp.matmul(f1, f1)
xp.matmul(f3, xp.swapaxes(f3, 1, 2))
xp.matmul(xp.ones((2, 1, 3, 4)), f3[0].T)
xp.matmul(f3[0], xp.swapaxes(f3, 1, 2))
xp.matmul(xp.reshape(f3, (1, 2, 3, 4)), xp.ones((5, 1, 4, 2)))
xp.matmul(f3, f3[0, 0])
xp.matmul(f3[0, :, 0], f3)
i2 @ f2.T
f2 @ sq
xp.dot(f3, sq[:, :1].repeat(4, 0)[:4])
xp.dot(f1, 2.0)
xp.inner(f3, f3[0])
xp.outer(f1, i1)
xp.vdot(c1, c1[::-1])
xp.vecdot(c2, c2)
xp.matvec(f3, f3[:, 0])
xp.vecmat(f2, f3)
xp.tensordot(f3, f3, axes=([0, 1], [0, 1]))
xp.tensordot(f3, f3, axes=0)
xp.kron(f2, f3)
xp.cross(f2, g2)
xp.cross(f2.T, g2.T, axis=0)
xp.einsum('ij->ji', f2)
xp.einsum('ii->i', sq)
xp.einsum('ii', sq)
xp.einsum('ij', f2)
xp.einsum('ij,jk', f2, sq)
xp.einsum('ij,jk->ki', f2, sq)
xp.einsum('ij,ij->j', f2, g2)
xp.einsum('i,j', f1, f1)
xp.einsum('ijk,ilk->ijl', f3, f3)
xp.einsum('...ij,...kj->...ik', f3, f3)
xp.einsum('...,...', f2, g2)
xp.einsum('ij,jk,lk->il', f2, sq, g2)
xp.einsum('ij,j,jk->i', f2, g2[0], sq)
xp.einsum('i,ij->ij', f2[:, 0], f2)
xp.einsum('ij,kj,kj->', f2, g2, g2)
xp.einsum(f2, [0, 1], sq, [1, 2])
xp.einsum('ab,bc,cd,de->ae', f2, sq, sq, sq, optimize=True)
xp.einsum('ij,ij->ij', f2, xp.ones((1, 3)))
""".splitlines()
LINALG = """\
xp.linalg.norm(f2)
xp.linalg.norm(f1, 1)
xp.linalg.norm(f1, np.inf)
xp.linalg.norm(f1, 0)
xp.linalg.norm(f1, 3)
xp.linalg.norm(f2, 'nuc')
xp.linalg.norm(f2, -2)
xp.linalg.norm(f2, np.inf)
xp.linalg.norm(f3, axis=(0, 1), keepdims=True)
xp.linalg.vector_norm(f3, axis=(0, 2), ord=1)
xp.linalg.vector_norm(f3, keepdims=True)
xp.linalg.vector_norm(f3, axis=(2, 0), ord=np.inf, keepdims=True)
xp.linalg.vector_norm(f2, ord=xp.asarray(3.0))
xp.linalg.matrix_norm(f3)
xp.linalg.svd(f2, compute_uv=False)
xp.linalg.svdvals(f3)
xp.linalg.eigvalsh(sq @ sq.T)
xp.linalg.cholesky(sq @ sq.T)
xp.linalg.det(sq)
xp.linalg.slogdet(sq)
xp.linalg.inv(sq)
xp.linalg.pinv(f2)
xp.linalg.solve(sq, f2[0])
xp.linalg.solve(sq, f2.T)
xp.linalg.lstsq(f2.T, f2[0], rcond=None)[0]
xp.linalg.matrix_rank(f2)
xp.linalg.cond(sq)
xp.linalg.matrix_power(sq, -2)
xp.linalg.multi_dot([f2, sq, g2.T])
xp.linalg.tensorsolve(xp.reshape(xp.eye(6) * 2, (2, 3, 6)), f2)
xp.linalg.tensorinv(xp.reshape(xp.eye(6) * 2, (2, 3, 6)), ind=2)
xp.linalg.trace(f3)
xp.linalg.diagonal(f3)
xp.linalg.cross(f2, g2)
xp.linalg.outer(f1, f1)
""".splitlines()
FFT = """\
xp.fft.fft(f1)
xp.fft.fft(c2, n=5, norm='ortho')
xp.fft.ifft(c1, norm='forward')
xp.fft.rfft(f2, axis=0)
xp.fft.irfft(c1)
xp.fft.irfft(c1, n=7)
xp.fft.hfft(c1)
xp.fft.ihfft(f1, norm='ortho')
xp.fft.fft2(f3)
xp.fft.ifft2(c2)
xp.fft.rfft2(f3)
xp.fft.irfft2(c2)
xp.fft.fftn(f3, s=(3, 5), axes=(0, 2))
xp.fft.rfftn(f3)
xp.fft.fftn(xp.reshape(f3, (2, 3, 2, 2)))
xp.fft.rfftn(xp.reshape(f3, (2, 3, 2, 2)))
xp.fft.irfftn(xp.fft.rfftn(xp.reshape(f3, (2, 3, 2, 2))))
xp.fft.fftfreq(5, 0.5)
xp.fft.rfftfreq(6)
xp.fft.fftshift(f2)
xp.fft.ifftshift(f2, axes=1)
""".splitlines()


@pytest.mark.parametrize("case", PRODUCTS + LINALG + FFT)
def test_values(case, same_as_numpy):
    same_as_numpy(case, 2e-4)


def test_transforms_along_axes_without_elements(arrays):
    f, none = dnp.fft, dnp.zeros((0,))
    assert (f.fft(none).dtype, f.fft(none).shape) == (np.complex64, (0,))
    assert f.ifft(dnp.zeros((3, 0))).shape == (3, 0)
    assert (f.irfft(dnp.ones(1)).dtype, f.irfft(dnp.ones(1)).shape) == (np.float32, (0,))
    assert f.hfft(none).shape == (0,)
    assert f.fftn(dnp.zeros((0, 3))).shape == f.ifft2(dnp.zeros((0, 3))).shape == (0, 3)
    assert f.rfftn(dnp.zeros((0, 4))).shape == (0, 3)
    assert f.irfft2(dnp.zeros((0, 3))).shape == (0, 4)
    assert f.fft(dnp.zeros((0, 2)), n=5).shape == (0, 5)
    assert f.fft(none, n=3).tolist() == [0, 0, 0]
    assert f.fftfreq(0).shape == (0,) and np.isnan(f.rfftfreq(0)).tolist() == [True]


def test_factors_multiply_to_the_matrix(arrays, near):
    x, s = arrays["f2"], arrays["sq"]
    u, sigma, vh = dnp.linalg.svd(x, full_matrices=False)
    near((u * sigma) @ vh, np.asarray(x), 1e-4)
    for mode in ("reduced", "complete"):
        near(dnp.matmul(*dnp.linalg.qr(x.T, mode=mode)), np.asarray(x).T, 1e-4)
    symmetric = s + s.T
    values, vectors = dnp.linalg.eigh(symmetric)
    near((vectors * values) @ vectors.T, np.asarray(symmetric), 1e-4)
    u, sigma, vh = dnp.linalg.svd(symmetric, hermitian=True)
    near((u * sigma) @ vh, np.asarray(symmetric), 1e-4)
    assert (np.diff(np.asarray(sigma)) <= 0).all()
    values, vectors = dnp.linalg.eig(s)
    near(s @ vectors, np.asarray(vectors * values), 1e-3)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2, 3, 3), (0, 2), (2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_raw_factors_are_those_of_lapack(shape, dtype, near):
    x = np.random.default_rng(0).normal(size=(*shape, 2)).astype(np.float32) @ [1, 1j]
    x = (x if dtype == "complex64" else x.real).astype(dtype)
    for qr in (dnp.linalg.qr, jit(dnp.linalg.qr, static_argnames="mode")):
        result, wanted = qr(x, mode="raw"), np.linalg.qr(x, mode="raw")
        assert type(result).__name__ == "QRResult"
        for a, b in zip(result, wanted):
            assert a.dtype == b.dtype
            near(a, b, 1e-5)
    if x.size and shape[-2] >= shape[-1]:
        h, taus = dnp.linalg.qr(x, mode="raw")
        near(
            lax.linalg.householder_product(dnp.matrix_transpose(h), taus), dnp.linalg.qr(x)[0], 1e-5
        )


def test_the_mode_of_qr_is_checked():
    with pytest.raises(ValueError, match=r"qr: mode must be 'reduced', .* or 'raw', got 'full'"):
        dnp.linalg.qr(dnp.ones((2, 2)), mode="full")


def test_a_layer_is_two_operations_and_a_broadcast(arrays):
    w, b = dnp.ones((3, 5)), dnp.ones(5)
    program = make_jaxpr(lambda x: dnp.tanh(x @ w + b))(arrays["f2"])
    names = [e.primitive.name for e in program.eqns]
    assert names == ["dot_general", "broadcast_in_dim", "add", "tanh"]


def test_functions_add_no_inner_programs(arrays):
    def f(x):
        y = dnp.where(x > 0, x, 0.0) * 2 + dnp.mean(x, axis=0) - dnp.einsum("ij,kj->ik", x, x)[0, 0]
        return dnp.sum(dnp.clip(y, -1, 1)[1:, ::2])

    program = make_jaxpr(f)(arrays["f2"])
    assert not any("jit" in e.primitive.name for e in program.eqns)


def test_preferred_types_of_products(arrays):
    h = arrays["f2"].astype("bfloat16")
    assert dnp.matmul(h, h.T).dtype == "bfloat16"
    assert dnp.matmul(h, h.T, preferred_element_type="float32").dtype == np.float32
    assert dnp.einsum("ij,kj", h, h, preferred_element_type="float32").dtype == np.float32


@pytest.mark.parametrize(
    "case",
    """\
xp.polyval(f1, 2.0)
xp.polyadd(f1, f2[0])
xp.polymul(f1, f2[0])
xp.polyder(f1, 2)
xp.polyint(f1, 2)
xp.poly(f2[0])
xp.roots(np.array([1.0, -3, 2])) + 0j
xp.polyfit(f1, f1 ** 2 + 1, 2)
xp.convolve(f1, f2[0])
xp.convolve(f2[0], f1, 'same')
xp.convolve(f1, f2[0], 'valid')
xp.correlate(f1, f2[0], 'full')
xp.correlate(c2[0], c1, 'full')
xp.correlate(f1, f2[0], 'valid')
xp.kaiser(5, 3.0)
xp.blackman(6)
xp.hanning(1)
xp.trapezoid(f2, dx=2.0)
xp.trapezoid(f1, f1 ** 2)
xp.gradient(f1)
xp.gradient(f2)
xp.gradient(f1, xp.cumsum(p1))
xp.unwrap(f1 * 3)
xp.unwrap(f1, period=4)
xp.interp(f1, srt + np.arange(6), srt)
xp.interp(f1, np.arange(4.0), np.arange(4.0), left=-1, right=9)
xp.cov(f2)
xp.cov(f2, rowvar=False, bias=True)
xp.cov(f2, fweights=np.array([1, 2, 1]))
xp.cov(f2, aweights=np.array([1.0, 2, 1]))
xp.cov(f1, f1 ** 2)
xp.corrcoef(f2)
""".splitlines(),
)
def test_polynomials_signals_and_statistics(case, same_as_numpy):
    same_as_numpy(case, 2e-3)


def test_polynomial_division(arrays, near):
    quotient, rest = dnp.polydiv(arrays["f1"], arrays["f2"][0])
    back = dnp.polyadd(dnp.polymul(quotient, arrays["f2"][0]), rest)
    near(back, np.asarray(arrays["f1"]), 1e-2)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: x @ x, TypeError, r"matmul got .*\(2, 3\) and \(2, 3\): the last .*\(3\)"),
    (lambda x: dnp.matmul(x, 2), ValueError, "operand 1 is a scalar.*Use multiply"),
    (lambda x: dnp.dot(x[0], x), TypeError, r"dot got operands of shapes \(3,\) and \(2, 3\)"),
    (lambda x: dnp.tensordot(x, x, 5), TypeError, "5 axes are more"),
    (lambda x: dnp.einsum("ij,jk", x, x), ValueError, "'j' has size 2 in operand 1 .* but size 3"),
    (lambda x: dnp.einsum("i", x), ValueError, "'i' has 1 letters for operand 0"),
    (lambda x: dnp.einsum("ij->k", x), ValueError, "'k' does not occur in any operand"),
    (lambda x: dnp.einsum("ij,kl", x), ValueError, "2 operands, but 1 are given"),
    (lambda x: dnp.linalg.inv(x), ValueError, r"inv takes square matrices, got shape \(2, 3\)"),
    (lambda x: dnp.linalg.solve(x.T @ x, x), ValueError, r"right sides of shape \(2, 3\)"),
    (lambda x: dnp.linalg.norm(x, "foo"), ValueError, "'foo' is no order of a matrix norm"),
    (lambda x: dnp.linalg.svd(x[0]), ValueError, r"svd takes matrices.*shape \(3,\)"),
    (lambda x: dnp.fft.rfft(x * 1j), ValueError, "rfft takes real arrays"),
    (lambda x: dnp.fft.fft(x, norm="x"), ValueError, "norm must be 'backward'"),
    (lambda x: dnp.fft.fft(x, n=0), ValueError, "lengths must be positive"),
    (lambda x: dnp.fft.rfft(x[:, :0]), ValueError, r"rfft: .* of shape \(2, 0\), has no elements"),
    (lambda x: dnp.fft.rfftfreq(-1), ValueError, "rfftfreq: n must not be negative, got -1"),
    (lambda x: dnp.convolve(x, x), ValueError, "convolve takes vectors"),
    (lambda x: jit(dnp.roots)(x[0]), TypeError, "strip_zeros=False"),
])  # fmt: skip
def test_errors(call, error, text, arrays):
    with pytest.raises(error, match=text):
        call(arrays["f2"])
