"""Convolutions channel by channel, with their derivatives; and what is written in another form."""

import ml_dtypes
import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp
from dovetail_cpu_kernels import cpu_kernels

LAYOUTS = {
    "channels last": ("NHWC", "HWIO", "NHWC"),
    "channels first": ("NCHW", "OIHW", "NCHW"),
    "kernel turned": ("NHWC", "OIHW", "NHWC"),
}
WINDOWS = [
    {"window_strides": (1, 1), "padding": "SAME"},
    {"window_strides": (2, 1), "padding": "VALID"},
    {"window_strides": (2, 3), "padding": ((1, 2), (0, 4))},
    {"window_strides": (1, 1), "padding": ((3, 1), (-1, -2)), "rhs_dilation": (2, 3)},
    {"window_strides": (1, 2), "padding": ((2, 2), (5, 1)), "lhs_dilation": (2, 3)},
    {"window_strides": (4, 3), "padding": ((5, 7), (1, 9)), "lhs_dilation": (2, 3),
     "rhs_dilation": (3, 2)},
]  # fmt: skip


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _named(letters, sizes):
    return [sizes[c] for c in letters]


def _arrays(rng, layout, channels, dtype=np.float64):
    x = _named(layout[0], {"N": 3, "H": 19, "W": 17, "C": channels})
    kernel = _named(layout[1], {"H": 3, "W": 4, "I": 1, "O": channels})
    return rng.standard_normal(x).astype(dtype), rng.standard_normal(kernel).astype(dtype)


def _by_channel(layout, channels, window):
    def conv(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, **window, dimension_numbers=layout, feature_group_count=channels
        )

    return conv


@pytest.mark.parametrize("layout", list(LAYOUTS.values()), ids=list(LAYOUTS))
@pytest.mark.parametrize("channels", [5, 41])
def test_of_each_channel(rng, layout, channels):
    x, kernel = _arrays(rng, layout, channels)
    for window in WINDOWS:
        conv = _by_channel(layout, channels, window)

        def everything(x, kernel, conv=conv):
            out, pull = dovetail.vjp(conv, x, kernel)
            return out, pull(dnp.cos(out))

        result = []
        for used in (True, False):
            with cpu_kernels(used):
                compiled = dovetail.jit(lambda *xs: everything(*xs)).lower(x, kernel)
                assert used or "dovetail_cpu" not in compiled.as_text()
                result.append(dovetail.tree.leaves(compiled.compile()(x, kernel)))
        for mine, xla in zip(*result):
            assert mine.shape == xla.shape and np.allclose(mine, xla, rtol=1e-11, atol=1e-11)


def test_there_are_kernels_for_both_layouts_and_all_derivatives(rng):
    for name in ("channels last", "channels first"):
        x, kernel = _arrays(rng, LAYOUTS[name], 8)
        conv = _by_channel(LAYOUTS[name], 8, WINDOWS[0])
        for function in (
            conv,
            dovetail.grad(lambda x, k, f=conv: f(x, k).sum(), 0),
            dovetail.grad(lambda x, k, f=conv: f(x, k).sum(), 1),
        ):
            assert "dovetail_cpu_channels" in dovetail.jit(function).lower(x, kernel).as_text()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_types(both, rng, dtype):
    layout = LAYOUTS["channels last"]
    x, kernel = _arrays(rng, layout, 16, dtype)
    (mine,), (xla,) = both(_by_channel(layout, 16, WINDOWS[0]), x, kernel)
    assert mine.dtype == xla.dtype == np.dtype(dtype)
    eps = float(ml_dtypes.finfo(dtype).eps)
    mine, xla = mine.astype(np.float64), xla.astype(np.float64)
    assert np.allclose(mine, xla, rtol=4 * eps, atol=40 * eps)


def test_lines(both, rng):
    x, kernel = rng.standard_normal(5000), rng.standard_normal(30)
    (mine,), _ = both(dnp.convolve, x, kernel)
    assert np.allclose(mine, np.convolve(x, kernel), rtol=1e-11, atol=1e-11)
    x = rng.standard_normal((2, 300, 40))
    kernel = rng.standard_normal((4, 1, 40))

    def causal(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1,), [(3, 0)], dimension_numbers=("NWC", "WIO", "NWC"),
            feature_group_count=40,
        )  # fmt: skip

    (mine,), (xla,) = both(causal, x, kernel)
    assert np.allclose(mine, xla, rtol=1e-11, atol=1e-11)
    many = dovetail.jit(dovetail.vmap(causal, in_axes=(0, None)))(np.stack([x, 2 * x]), kernel)
    assert np.allclose(many, np.stack([xla, 2 * xla]), rtol=1e-11, atol=1e-11)


def test_groups_of_batches_are_written_as_groups_of_features(rng):
    for layout in LAYOUTS.values():
        x = rng.standard_normal(_named(layout[0], {"N": 12, "H": 9, "W": 18, "C": 3}))
        kernel = rng.standard_normal(_named(layout[1], {"H": 4, "W": 3, "I": 3, "O": 20}))

        def conv(x, kernel, layout=layout):
            return lax.conv_general_dilated(
                x, kernel, (1, 2), "SAME", dimension_numbers=layout, batch_group_count=4
            )

        result = []
        for used in (True, False):
            with cpu_kernels(used):
                lowered = dovetail.jit(lambda *xs: conv(*xs)).lower(x, kernel)
                assert ("batch_group_count = 4" in lowered.as_text()) is not used
                result.append(lowered.compile()(x, kernel))
        assert np.allclose(*result, rtol=1e-11, atol=1e-11)


def test_bytes_wrap_around(rng):
    x = rng.integers(-128, 128, (2, 20, 20, 32)).astype(np.int8)
    kernel = rng.integers(-128, 128, (3, 3, 32, 32)).astype(np.int8)

    def conv(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=LAYOUTS["channels last"]
        )

    result = []
    for used in (True, False):
        with cpu_kernels(used):
            lowered = dovetail.jit(lambda *xs: conv(*xs)).lower(x, kernel)
            assert ("xi32>" in lowered.as_text()) is used
            result.append(np.asarray(lowered.compile()(x, kernel)))
    assert result[0].dtype == np.int8 and np.array_equal(*result)


def test_what_has_no_kernel_is_left_to_xla(rng):
    x, kernel = rng.standard_normal((2, 20, 20, 8)), rng.standard_normal((3, 3, 2, 8))

    def conv(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=LAYOUTS["channels last"],
            feature_group_count=4,
        )  # fmt: skip

    assert "dovetail_cpu" not in dovetail.jit(conv).lower(x, kernel).as_text()
    few = dovetail.grad(lambda k, x: conv(x, k).sum())
    text = dovetail.jit(few).lower(kernel, x[:1, :4, :4]).as_text()
    assert "batch_group_count = 4" in text
    small = dovetail.jit(dnp.convolve).lower(np.ones(10), np.ones(3))
    assert "dovetail_cpu" not in small.as_text()
    assert dovetail.jit(conv)(x[:0], kernel).shape == (0, 20, 20, 8)
