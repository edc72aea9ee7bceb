"""Convolution, trends and spectra against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal as ss

from dovetail_ad import jvp, vjp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy import signal
from dovetail_testing import assert_near

RNG = np.random.default_rng(0)
MODES = ["full", "same", "valid"]


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def normal(*shape):
    return RNG.normal(size=shape)


def agree(result, expected, tol=1e-11):
    result, expected = (x if isinstance(x, tuple) else (x,) for x in (result, expected))
    for x, y in zip(result, expected, strict=True):
        assert np.asarray(x).dtype.kind == np.asarray(y).dtype.kind
        assert_near(x, y, tol, atol=tol * np.abs(y).max(initial=1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["direct", "fft"])
def test_convolution_and_correlation(method, mode):
    z = normal(8) + 1j * normal(8)
    for x, y in ((normal(3), normal(8)), (normal(6, 5), normal(3, 2)), (normal(9), z)):
        given = {"mode": mode, "method": method}
        agree(signal.convolve(x, y, **given), ss.convolve(x, y, **given))
        if x.shape[0] >= y.shape[0] or mode != "valid":
            agree(signal.correlate(x, y, **given), ss.correlate(x, y, **given))
    with enable_x64(False):
        assert signal.convolve(np.arange(4), np.arange(3)).dtype == "float32"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("boundary", [{}, {"fillvalue": 2.0}, {"boundary": "wrap"},
                                      {"boundary": "symm"}])  # fmt: skip
def test_two_dimensions(boundary, mode):
    x = normal(6, 7)
    for y in (normal(3, 2), normal(4, 1)):
        agree(signal.convolve2d(x, y, mode, **boundary), ss.convolve2d(x, y, mode, **boundary))
        agree(signal.correlate2d(x, y, mode, **boundary), ss.correlate2d(x, y, mode, **boundary))


@pytest.mark.parametrize("mode", MODES)
def test_convolution_by_fourier_transforms(mode):
    x, y = normal(3, 8), normal(1, 5)
    agree(signal.fftconvolve(x, y, mode, axes=1), ss.fftconvolve(x, y, mode, axes=1))
    agree(signal.fftconvolve(x, y[:, :2], mode), ss.fftconvolve(x, y[:, :2], mode))
    z = x + 1j * normal(3, 8)
    agree(signal.fftconvolve(z, y, mode, axes=(-1,)), ss.fftconvolve(z, y, mode, axes=(-1,)))
    assert signal.fftconvolve(x.astype("f4"), y.astype("f4"), axes=1).dtype == "float32"


def test_trends():
    x = normal(4, 30) + np.arange(30)
    for kind in ("linear", "constant"):
        agree(signal.detrend(x, type=kind), ss.detrend(x, type=kind))
        agree(signal.detrend(x.T, axis=0, type=kind), ss.detrend(x.T, axis=0, type=kind))
    for bp in (10, [7, 20], np.array([1, 29])):
        agree(signal.detrend(x, bp=bp), ss.detrend(x, bp=bp))
    assert_near(signal.detrend(np.ones((2, 1))), np.zeros((2, 1)), 0)


OPTIONS = [
    {},
    {"nperseg": 64, "noverlap": 20, "window": "hamming"},
    {"nperseg": 33, "nfft": 50, "detrend": "linear", "scaling": "spectrum"},
    {"window": ("kaiser", 3.0), "detrend": False, "nperseg": 50, "average": "median"},
    {"return_onesided": False, "fs": 10.0},
    {"window": np.hanning(40), "nperseg": 40, "axis": 0},
    {"detrend": lambda x: x - x[..., :1], "nperseg": 32},
]


@pytest.mark.parametrize("given", OPTIONS)
def test_spectra_by_welch(given):
    x, y = normal(2, 300, 300)[:, :, :2]
    x, y = (x, y) if given.get("axis") == 0 else (x.T, y.T)
    agree(signal.csd(x, y, **given), ss.csd(x, y, **given))
    part = {k: v for k, v in given.items() if k not in ("scaling", "average")}
    agree(signal.stft(x, **part), ss.stft(x, **part))


def test_spectra_of_complex_and_of_short_signals():
    x, y = normal(300) + 1j * normal(300), normal(250)
    with pytest.warns(UserWarning, match="return_onesided=False"):
        expected = ss.csd(x, y), ss.welch(x), ss.stft(x)
    agree(signal.csd(x, y), expected[0])
    agree(signal.welch(x), expected[1])
    agree(signal.stft(x), expected[2])
    with pytest.warns(UserWarning, match=r"welch: nperseg=256 is greater than .* 100 at .*test_"):
        result = signal.welch(y[:100], nperseg=256)
    agree(result, ss.welch(y[:100], nperseg=100))
    agree(signal.welch(y[:100]), result)  # by default as much as there is, and no warning
    agree(signal.csd(y, None, nperseg=64), ss.csd(y, y, nperseg=64))
    single = signal.welch(y.astype("f4"), nperseg=64)[1]
    assert single.dtype == "float32"


def agree_in_signal(result, expected):
    """SciPy makes as many times as there are signals, where there are several."""
    agree(result[1], expected[1])
    assert np.shape(result[0]) == np.shape(result[1])[-1:]
    agree(result[0][:2], expected[0][:2])


@pytest.mark.filterwarnings("ignore:NOLA")
@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
def test_short_time_transforms(boundary):
    x = normal(2, 200)
    for given in ({"nperseg": 32}, {"nperseg": 31, "noverlap": 20, "window": "hamming"},
                  {"nperseg": 40, "nfft": 64, "padded": False}):  # fmt: skip
        agree(signal.stft(x, boundary=boundary, **given), ss.stft(x, boundary=boundary, **given))
    z = ss.stft(x, nperseg=32, boundary=boundary)[2]
    for given in ({}, {"fs": 4.0}):
        given["boundary"] = boundary is not None
        agree_in_signal(signal.istft(z, **given), ss.istft(z, **given))


def test_inverse_short_time_transforms():
    x = normal(3, 200)
    for given in ({"nperseg": 31}, {"nperseg": 40, "noverlap": 30, "nfft": 64},
                  {"nperseg": 32, "window": np.hamming(32)}):  # fmt: skip
        z = signal.stft(x, **given)[2]
        _, back = signal.istft(z, **given)
        agree(np.asarray(back)[:, :200], x)
        agree_in_signal(signal.istft(z, **given), ss.istft(np.asarray(z), **given))
    turned = np.moveaxis(np.asarray(z), (1, 2), (2, 0))
    given = {"time_axis": 0, "freq_axis": 2, **given}
    agree(signal.istft(turned, **given)[1], ss.istft(turned, **given)[1])
    both = ss.stft(x + 0j, nperseg=32, return_onesided=False)[2]
    agree_in_signal(signal.istft(both, input_onesided=False),
                    ss.istft(both, input_onesided=False))  # fmt: skip


def test_transformations():
    x, y, t = normal(3, 64)
    f = lambda x, y: signal.convolve(x, y[:9], "same")  # noqa: E731
    agree(jit(vmap(f))(np.stack([x, t]), np.stack([y, y]))[1], np.convolve(t, y[:9], "same"))
    ct = normal(64)
    pulled = vjp(f, x, y)[1](ct)
    pushed = jvp(f, (x, y), (t, t))[1]
    agree(np.sum(pulled[0] * t) + np.sum(pulled[1] * t), np.sum(ct * np.asarray(pushed)))
    energy = jit(lambda x, fs: signal.welch(x, fs, nperseg=16)[1])
    agree(energy(x, 2.0), ss.welch(x, 2.0, nperseg=16)[1])
    step = 1e-6
    slope = jvp(lambda x: energy(x, 2.0), (x,), (t,))[1]
    low, high = (np.asarray(energy(x + s * t, 2.0)) for s in (-step, step))
    assert_near(slope, (high - low) / (2 * step), 1e-6, atol=1e-8)
    back = lambda x: signal.istft(signal.stft(x, nperseg=16)[2])[1]  # noqa: E731
    agree(jvp(back, (x,), (t,))[1], t)


X = np.ones(300)
WRONG = [
    (lambda: signal.convolve(X, np.ones((2, 2))), ValueError, r"convolve takes arrays with equal"),
    (lambda: signal.convolve(X, []), ValueError, r"convolve: arrays cannot be empty, got shapes"),
    (lambda: signal.convolve(X, X, "x"), ValueError, r"mode must be one of 'full', 'same', 'v"),
    (lambda: signal.convolve(X, "x"), TypeError, r"convolve takes arrays, got 'x' at position 1"),
    (lambda: signal.correlate(X, X, method="x"), ValueError, r"method must be one of 'auto', 'dir"),
    (lambda: signal.convolve2d(X, X), ValueError, r"convolve2d takes matrices, got shapes"),
    (lambda: signal.convolve2d(X[None], X[None], boundary="x"), ValueError, r"boundary must be"),
    (lambda: signal.convolve(np.ones((3, 2)), np.ones((2, 3)), "valid"), ValueError,
     r"one array must be as large as the other along each axis"),
    (lambda: signal.fftconvolve(X, X, axes=(0, -1)), ValueError, r"name each axis once, from -1"),
    (lambda: signal.fftconvolve(np.ones((2, 3)), np.ones((3, 3)), axes=1), ValueError,
     r"do not broadcast along axis 0"),
    (lambda: signal.detrend(X, type="x"), ValueError, r"detrend: type must be one of 'linear', "),
    (lambda: signal.detrend(X, bp=301), ValueError, r"bp \[301\] of a signal of 300 elements"),
    (lambda: signal.detrend(X, axis=1), ValueError, r"axis 1 is out of bounds"),
    (lambda: signal.detrend(X, overwrite_data=True), NotImplementedError, r"arrays are immutable"),
    (lambda: signal.welch(X, window="x"), ValueError, r"welch: window 'x' at .*test_signal"),
    (lambda: signal.welch(X, window=np.ones((2, 2))), ValueError, r"a window is a vector no"),
    (lambda: signal.welch(X, window=np.ones(9), nperseg=8), ValueError, r"differs from the win"),
    (lambda: signal.welch(X, nperseg=10, noverlap=10), ValueError, r"noverlap=10 must be less"),
    (lambda: signal.welch(X, nperseg=0), ValueError, r"welch: nperseg must be at least 1, got 0"),
    (lambda: signal.welch(X, scaling="x"), ValueError, r"welch: scaling must be one of 'density'"),
    (lambda: signal.csd(X, X, detrend="x"), ValueError, r"csd: detrend must be one of False, None"),
    (lambda: signal.csd(np.ones((2, 9)), np.ones((3, 9))), ValueError, r"do not broadcast"),
    (lambda: signal.welch([]), ValueError, r"welch: signals have no elements along axis -1"),
    (lambda: signal.stft(X, boundary="x"), ValueError, r"boundary must be one of None, 'even'"),
    (lambda: signal.stft([]), ValueError, r"stft: the signal has no elements"),
    (lambda: signal.istft(X), ValueError, r"at least two dimensions, got shape \(300,\)"),
    (lambda: signal.istft(np.ones((3, 3)), freq_axis=1), ValueError, r"are both 1"),
    (lambda: signal.istft(np.ones((3, 3)), nperseg=0), ValueError, r"nperseg must be positive"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
