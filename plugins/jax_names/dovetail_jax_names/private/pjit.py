"""``jax._src.pjit``. quax: ``jit_p``, for which it has a rule."""

from __future__ import annotations

from typing import Any

from dovetail_jit import jit_p as jit_p

from ..absent_names import public


def __getattr__(name: str) -> Any:
    return public("jax._src.pjit", name)
