"""``jax._src.checkify``. flax: ``nnx.checkify`` is made of these."""

from __future__ import annotations

from typing import Any, TypeVar

from dovetail_checkify import (
    Error as Error,
    JaxException as JaxException,
    checkify as checkify,
    user_checks as user_checks,
)

from ..absent_names import public

Out = TypeVar("Out")


def __getattr__(name: str) -> Any:
    return public("jax._src.checkify", name)
