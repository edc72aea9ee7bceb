"""``jax._src.state.types``. flax: ``AbstractRef``, for ``isinstance``."""

from __future__ import annotations

from typing import Any

from dovetail_refs import AbstractRef as AbstractRef

from ...absent_names import public


def __getattr__(name: str) -> Any:
    return public("jax._src.state.types", name)
