"""``jax._src.interpreters.pxla``. flax (``linen.fp8_ops``): ``global_result_handlers``."""

from __future__ import annotations

from typing import Any

from ...absent_names import public
from ...results import global_result_handlers as global_result_handlers


def __getattr__(name: str) -> Any:
    return public("jax._src.interpreters.pxla", name)
