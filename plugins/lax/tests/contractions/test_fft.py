"""Fourier transforms: NumPy's values, transposes, and mapped axes among the transformed ones."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import vjp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_lax import FftType
from dovetail_testing import assert_close, assert_transposes

RNG = np.random.default_rng(0)
TRANSFORMS = {
    FftType.FFT: np.fft.fftn, FftType.IFFT: np.fft.ifftn, FftType.RFFT: np.fft.rfftn,
    FftType.IRFFT: np.fft.irfftn,
}  # fmt: skip


def operand(kind, lengths, batch=(2,)):
    shape = (*batch, *lengths)
    if kind == FftType.IRFFT:
        shape = (*shape[:-1], shape[-1] // 2 + 1)
    x = RNG.normal(size=shape)
    return x.astype(np.float32) if kind == FftType.RFFT else (x + 1j * x[::-1]).astype(np.complex64)


@pytest.mark.parametrize("lengths", [(8,), (7,), (4, 6), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("kind", FftType)
def test_values_and_transposes(kind, lengths):
    x = operand(kind, lengths)
    axes = tuple(range(1, 1 + len(lengths)))

    def f(x):
        return lax.fft(x, kind, lengths)

    out = np.asarray(f(x))
    expected = TRANSFORMS[kind](x, lengths, axes)
    assert_close(out, expected.astype(out.dtype))
    ct = out[::-1] * (0.5 if kind == FftType.IRFFT else 0.5 - 1j)
    ct = ct.astype(out.dtype)
    assert_transposes(lambda t: [f(t)], vjp(f, x)[1], [x[::-1]], [ct], 1e-4)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_mapped_axes_before_and_among_the_transformed_ones(axis):
    x = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    result = vmap(lambda x: lax.fft(x, "RFFT", rest[1:]), in_axes=axis)(x)
    expected = np.fft.rfft(np.moveaxis(x, axis, 0), axis=2)
    assert_close(result, expected.astype(np.complex64))


def test_operands_are_converted_as_the_transform_needs():
    x = np.arange(6, dtype=np.int32)
    assert_close(lax.fft(x, "rfft", (6,)), np.fft.rfft(x).astype(np.complex64))
    assert_close(lax.fft(x, "fft", (6,)), np.fft.fft(x).astype(np.complex64))
    assert lax.fft(x, "fft", ()) is x
    with enable_x64(True):
        assert_close(lax.fft(x.astype(float), "rfft", (6,)), np.fft.rfft(x))


def test_empty_arrays():
    assert np.shape(lax.fft(np.zeros((0, 4), np.float32), "rfft", (4,))) == (0, 3)
