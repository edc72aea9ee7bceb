"""``jax._src.compiler``. chex: ``restrict_backends`` puts a function in the place of
``backend_compile_and_load``, which refuses to compile for some platforms.
"""

from __future__ import annotations

from typing import Any

from dovetail_xla import execution

from ..absent_names import public


def backend_compile_and_load(backend: Any, *args: Any) -> None:
    """What is called with the client, the module and more before anything is compiled."""


def _asked(*args: Any) -> None:
    backend_compile_and_load(*args)  # what stands there now


execution.before_compiling.append(_asked)


def __getattr__(name: str) -> Any:
    return public("jax._src.compiler", name)
