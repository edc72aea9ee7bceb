"""How functions that draw become one compiled call each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dovetail_jit import fused as _fused

F = TypeVar("F", bound=Callable[..., object])


def fused(static: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Decorator: run a function as one compiled program when evaluated eagerly (``static`` names
    arguments that are not arrays), so that a draw is rounded as a whole, as ``jit`` rounds it."""
    return _fused(static=static, profile="default", shared=True)
