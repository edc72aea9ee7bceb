"""``jax._src.state.types``. flax: ``AbstractRef``, for ``isinstance``."""

from __future__ import annotations

from typing import Any

from dovetail_refs import AbstractRef as AbstractRef

from ..absent import absent


def __getattr__(name: str) -> Any:
    raise absent("jax._src.state.types", name)
