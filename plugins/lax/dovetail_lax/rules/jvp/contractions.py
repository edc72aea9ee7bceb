"""Derivatives of contractions, convolutions and Fourier transforms, which are linear."""

from __future__ import annotations

from typing import Any

from ...primitives.contractions import conv_general_dilated_p, dot_general_p
from ...primitives.fft import fft_p
from .kinds import linear, nary


def _dot_left(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return dot_general_p.bind(t, rhs, **params)


def _dot_right(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return dot_general_p.bind(lhs, t, **params)


nary(dot_general_p, _dot_left, _dot_right)


def _conv_left(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return conv_general_dilated_p.bind(t, rhs, **params)


def _conv_right(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return conv_general_dilated_p.bind(lhs, t, **params)


nary(conv_general_dilated_p, _conv_left, _conv_right)


linear(fft_p)
