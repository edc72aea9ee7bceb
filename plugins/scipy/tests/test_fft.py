"""Discrete cosine transforms against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft as sf

from dovetail_ad import jvp, vjp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy import fft
from dovetail_testing import assert_near

RNG = np.random.default_rng(0)
NORMS = [None, "backward", "ortho", "forward"]


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def agree(result, expected, tol=1e-13):
    assert_near(result, expected, tol, atol=tol * np.abs(expected).max(initial=1) * 4)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_transforms_along_an_axis(kind, norm):
    x = RNG.normal(size=(3, 7))
    for name in ("dct", "idct"):
        f, expected = getattr(fft, name), getattr(sf, name)
        given = {None: {}, "backward": {"axis": 0}, "ortho": {"n": 4}, "forward": {"n": 10}}[norm]
        agree(f(x, kind, norm=norm, **given), expected(x, kind, norm=norm, **given))


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_values_and_lengths(kind):
    x = RNG.normal(size=(3, 7))
    agree(fft.dct(x + 2j * x[::-1], kind), sf.dct(x + 2j * x[::-1], kind))
    single = fft.dct(x.astype("f4"), kind)
    assert single.dtype == "float32"
    agree(single, sf.dct(x, kind), 1e-5)
    if kind != 1:
        agree(fft.dct(x[:, :1], kind), sf.dct(x[:, :1], kind))
    agree(fft.idct(fft.dct(x, kind), kind), x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_transforms_along_several_axes(kind, norm):
    x = RNG.normal(size=(3, 4, 5))
    for name in ("dctn", "idctn"):
        f, expected = getattr(fft, name), getattr(sf, name)
        given = {None: {}, "backward": {"axes": 1}, "ortho": {"s": (6, 3)},
                 "forward": {"s": (2, 7), "axes": (1, -3)}}[norm]  # fmt: skip
        agree(f(x, kind, norm=norm, **given), expected(x, kind, norm=norm, **given))


def test_types_of_elements():
    assert fft.dct(np.arange(4)).dtype == "float64"
    agree(fft.dct([1, 2, 3]), sf.dct(np.array([1.0, 2, 3])))
    with enable_x64(False):
        assert fft.dct(np.arange(4)).dtype == "float32"
        assert fft.dct(np.arange(4).astype("float16")).dtype == "float32"
    assert fft.dct(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_transformations(kind):
    x, t = RNG.normal(size=(2, 6))
    f = lambda x: fft.dct(x, kind, norm="ortho")  # noqa: E731
    agree(jvp(f, (x,), (t,))[1], f(t))
    (pulled,) = vjp(f, x)[1](t)
    agree(np.sum(np.asarray(pulled) * x), np.sum(t * np.asarray(f(x))))
    agree(pulled, fft.idct(t, kind, norm="ortho"))  # an orthogonal matrix
    agree(jit(vmap(f))(np.stack([x, t])), sf.dct(np.stack([x, t]), kind, norm="ortho"))


WRONG = [
    (lambda: fft.dct(None), TypeError, r"dct takes arrays, got None at position 0.*test_fft"),
    (lambda: fft.dct(np.ones(3), 5), ValueError, r"dct: type must be 1, 2, 3 or 4, got 5 at "),
    (lambda: fft.idct(np.ones(3), norm="x"), ValueError, r"idct: norm must be 'backward', 'ortho'"),
    (lambda: fft.dct(np.ones(1), 1), ValueError, r"type 1 takes at least 2 elements.*lengths \(1,"),
    (lambda: fft.dct(np.ones(0)), ValueError, r"type 2 takes at least 1 element along"),
    (lambda: fft.dct(np.ones(3), axis=1), ValueError, r"axes \(1,\) of an array of shape \(3,\)"),
    (lambda: fft.dctn(np.ones((3, 3)), axes=(0, -2)), ValueError, r"duplicate axis.*axis once"),
    (lambda: fft.dctn(np.ones((3, 3)), s=(1,), axes=(0, 1)), ValueError, r"1 lengths for 2 axes"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
