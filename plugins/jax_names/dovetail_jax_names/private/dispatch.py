"""``jax._src.dispatch``. equinox: ``wait_for_tokens``, which it calls when Python ends."""

from __future__ import annotations

from typing import Any

from dovetail_jit import effects_barrier

from ..absent_names import public


def wait_for_tokens() -> None:
    """Wait until the effects of all programs have happened."""
    effects_barrier()


def __getattr__(name: str) -> Any:
    return public("jax._src.dispatch", name)
