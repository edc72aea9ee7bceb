"""``jax._src.lib``. dynamiqs: ``xla_client``, for ``xla_client.XlaRuntimeError``."""

from __future__ import annotations

from typing import Any

from dovetail_xla.loading import xla_client as _xla_client

from ...absent_names import public


def __getattr__(name: str) -> Any:
    if name == "xla_client":
        return _xla_client()
    return public("jax._src.lib", name)
