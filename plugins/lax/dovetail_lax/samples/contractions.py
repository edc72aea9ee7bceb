"""Samples of contractions, convolutions and Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dovetail_testing import Sample

from ..primitives.contractions import (
    ConvDimensionNumbers,
    DotAlgorithmPreset,
    Precision,
    conv_general_dilated_p,
    dot_general_p,
)
from ..primitives.fft import FftType, fft_p
from ..primitives.ragged import RaggedDotDimensionNumbers, ragged_dot_general_p
from .kinds import numbers

EMPTY = frozenset({"empty"})
DTYPES = ("float32", "bfloat16", "float16", "complex64", "int32", "int8")


def _values(name: str, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return numbers(name, (-2, 2), shape, dtype)


def _dot_params(contract: Any, batch: Any = ((), ()), **more: Any) -> dict[str, Any]:
    common = {"precision": None, "preferred_element_type": None}
    return {"dimension_numbers": (contract, batch), **common, **more}


def _dot() -> Iterator[Sample]:
    matrices = _dot_params(((1,), (0,)))
    for dtype in (*DTYPES, "bool"):
        args = (_values("lhs", (3, 4), dtype), _values("rhs", (4, 2), dtype))
        yield Sample(dot_general_p, args, matrices)
    a, b = _values("lhs", (2, 3, 4)), _values("rhs", (4, 3, 5, 2))
    yield Sample(dot_general_p, (a, b), _dot_params(((2, 1), (0, 1)), ((0,), (3,))))
    yield Sample(dot_general_p, (a, b), _dot_params(((1, 2), (1, 0))))
    yield Sample(dot_general_p, (a, b), _dot_params(((2,), (0,)), ((1, 0), (1, 3))))
    yield Sample(dot_general_p, (a, a), _dot_params(((0, 1, 2), (0, 1, 2))))
    yield Sample(dot_general_p, (a[0], b[0, 0]), _dot_params(((), ())))
    yield Sample(dot_general_p, (a[0], np.float32(2)), _dot_params(((), ())))
    yield Sample(dot_general_p, (a[0, :, :0], b[:0, 0, 0]), _dot_params(((1,), (0,))), EMPTY)
    yield Sample(dot_general_p, (a[:0, 0], b[:, 0, 0]), _dot_params(((1,), (0,))), EMPTY)
    exact = _dot_params(((1,), (0,)), precision=(Precision.HIGHEST, Precision.DEFAULT))
    named = _dot_params(((1,), (0,)), precision=DotAlgorithmPreset.F32_F32_F32)
    yield Sample(dot_general_p, (a[0], b[:, 0, 0]), exact)
    yield Sample(dot_general_p, (a[0], b[:, 0, 0]), named, name="algorithm")
    for given, wanted in (("bfloat16", "float32"), ("int8", "int32")):
        args = (_values("lhs", (3, 4), given), _values("rhs", (4, 2), given))
        params = _dot_params(((1,), (0,)), preferred_element_type=np.dtype(wanted))
        yield Sample(dot_general_p, args, params)
    mixed = (_values("lhs", (3, 4), "bfloat16"), _values("rhs", (4, 2)))
    yield Sample(dot_general_p, mixed, matrices, name="mixed")


def _ragged() -> Iterator[Sample]:
    lhs, sizes = _values("lhs", (5, 3)), np.array([2, 1], np.int32)
    common = {"precision": None, "preferred_element_type": None}
    free = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    operands = (lhs, _values("rhs", (2, 3, 4)), sizes)
    yield Sample(ragged_dot_general_p, operands, {"dimension_numbers": free, **common})
    summed = RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    operands = (lhs, _values("rhs", (5, 2)), sizes)
    params = {"dimension_numbers": summed, **common}
    yield Sample(ragged_dot_general_p, operands, params, name="summed")


def _conv_params(n: int = 2, **changes: Any) -> dict[str, Any]:
    axes = tuple(range(n + 2))
    return {
        "window_strides": (1,) * n,
        "padding": ((0, 0),) * n,
        "lhs_dilation": (1,) * n,
        "rhs_dilation": (1,) * n,
        "dimension_numbers": ConvDimensionNumbers(axes, axes, axes),
        "feature_group_count": 1,
        "batch_group_count": 1,
        "precision": None,
        "preferred_element_type": None,
        **changes,
    }


def _sample(lhs: tuple[int, ...], rhs: tuple[int, ...], **changes: Any) -> Sample:
    args = (_values("image", lhs), _values("kernel", rhs))
    return Sample(conv_general_dilated_p, args, _conv_params(len(lhs) - 2, **changes))


def _conv() -> Iterator[Sample]:
    pads = ((1, 0), (0, 2))
    for dtype in DTYPES:
        args = (_values("image", (2, 3, 5, 4), dtype), _values("kernel", (2, 3, 2, 3), dtype))
        yield Sample(conv_general_dilated_p, args, _conv_params(padding=pads))
    yield _sample(
        (2, 3, 5, 4), (2, 3, 2, 2), window_strides=(2, 1), padding=((2, 1), (-1, 3)),
        lhs_dilation=(2, 3), rhs_dilation=(3, 2),
    )  # fmt: skip
    yield _sample((2, 4, 5, 4), (6, 2, 2, 3), feature_group_count=2, padding=pads)
    yield _sample((4, 3, 5, 4), (6, 3, 2, 3), batch_group_count=2, window_strides=(2, 1))
    last = ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    yield _sample((2, 5, 4, 4), (2, 3, 2, 6), dimension_numbers=last, feature_group_count=2)
    mixed = ConvDimensionNumbers((2, 0, 1, 3), (1, 2, 3, 0), (3, 2, 0, 1))
    yield _sample(
        (3, 5, 4, 4), (2, 6, 3, 2), dimension_numbers=mixed, batch_group_count=2,
        rhs_dilation=(1, 2),
    )  # fmt: skip
    yield _sample((2, 3, 7), (4, 3, 2), window_strides=(3,), padding=((1, 1),))
    yield _sample((2, 3), (4, 3))
    yield _sample((1, 2, 3, 3, 2), (2, 2, 2, 2, 1), window_strides=(1, 2, 1))
    args = (_values("image", (0, 3, 5, 4)), _values("kernel", (2, 3, 2, 3)))
    yield Sample(conv_general_dilated_p, args, _conv_params(), EMPTY)
    args = (_values("image", (2, 3, 1, 4)), _values("kernel", (2, 3, 2, 3)))
    yield Sample(conv_general_dilated_p, args, _conv_params(), EMPTY, name="no position")
    args = (_values("image", (2, 3, 5), "bfloat16"), _values("kernel", (2, 3, 2), "bfloat16"))
    wide = _conv_params(1, preferred_element_type=np.dtype(np.float32))
    yield Sample(conv_general_dilated_p, args, wide)


def _fft() -> Iterator[Sample]:
    for lengths in ((6,), (5,), (2, 4), (2, 2, 3)):
        shape = (2, *lengths)
        half = (*shape[:-1], shape[-1] // 2 + 1)
        for kind in FftType:
            given = half if kind == FftType.IRFFT else shape
            dtype = "float32" if kind == FftType.RFFT else "complex64"
            params = {"fft_type": kind, "fft_lengths": lengths}
            yield Sample(fft_p, (_values("fft", given, dtype),), params)
    params = {"fft_type": FftType.FFT, "fft_lengths": (4,)}
    yield Sample(fft_p, (_values("fft", (0, 4), "complex64"),), params, EMPTY)
    params = {"fft_type": FftType.RFFT, "fft_lengths": (0,)}
    yield Sample(fft_p, (_values("fft", (2, 0)),), params, EMPTY)
    params = {"fft_type": FftType.RFFT, "fft_lengths": (1,)}
    yield Sample(fft_p, (_values("fft", (1,)),), params)


def samples() -> Iterator[Sample]:
    """Samples whose results are sums of products of numbers between -2 and 2."""
    for sample in (*_dot(), *_ragged(), *_conv(), *_fft()):
        yield replace(sample, scale=1.0)
