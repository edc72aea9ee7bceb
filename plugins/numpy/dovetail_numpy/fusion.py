"""One compiled call for a composite function, where the plugin ``jit`` is there to compile it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _inline(*, static: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Without ``jit`` composite functions run operation by operation."""
    return lambda f: f


if find_spec("dovetail_jit") is not None:
    try:
        from dovetail_jit import fused as fused
    except ImportError:
        fused = _inline
else:
    fused = _inline
