"""Derivatives of contractions, which are linear in each operand."""

from __future__ import annotations

from typing import Any

from ...primitives.dot import dot_general_p
from .kinds import nary


def _left(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return dot_general_p.bind(t, rhs, **params)


def _right(t: Any, answer: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    return dot_general_p.bind(lhs, t, **params)


nary(dot_general_p, _left, _right)
