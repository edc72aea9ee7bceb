"""``jax._src.distributed``. orbax: ``global_state`` says which process of how many this one is."""

from __future__ import annotations

from typing import Any

from dovetail_distributed import State as State, global_state as global_state

from ..absent_names import public


def __getattr__(name: str) -> Any:
    return public("jax._src.distributed", name)
