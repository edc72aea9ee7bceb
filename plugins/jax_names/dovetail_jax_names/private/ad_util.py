"""``jax._src.ad_util``. lineax: ``stop_gradient_p``, which it gives a transpose rule."""

from __future__ import annotations

from typing import Any

from dovetail_lax import stop_gradient_p as stop_gradient_p

from ..absent_names import public


def __getattr__(name: str) -> Any:
    return public("jax._src.ad_util", name)
