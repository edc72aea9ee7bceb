"""Derivatives of convolutions, which are linear in each operand."""

from __future__ import annotations

from typing import Any

from ...primitives.conv import conv_general_dilated_p
from .kinds import nary


def _left(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return conv_general_dilated_p.bind(t, rhs, **params)


def _right(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return conv_general_dilated_p.bind(lhs, t, **params)


nary(conv_general_dilated_p, _left, _right)
