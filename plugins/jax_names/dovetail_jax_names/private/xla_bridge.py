"""``jax._src.xla_bridge``. chex: ``_backends``, to see whether the CPU's runtime has started."""

from __future__ import annotations

from typing import Any

from dovetail_backends import PjrtBackend
from dovetail_core import registry

from ..absent_names import public


def __getattr__(name: str) -> Any:
    if name == "_backends":
        result = {n: registry().backend(n) for n in registry().entries("backends")}
        return {n: b.client for n, b in result.items() if isinstance(b, PjrtBackend) and b.started}
    return public("jax._src.xla_bridge", name)
