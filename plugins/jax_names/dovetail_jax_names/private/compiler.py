"""``jax._src.compiler``. chex: ``restrict_backends`` replaces ``backend_compile_and_load`` by a
function that refuses to compile for some platforms.
"""

from __future__ import annotations

from typing import Any

from dovetail_xla import execution

from ..absent_names import public


def backend_compile_and_load(backend: Any, *args: Any) -> None:
    """A function that is called with the client, the module and more before a compilation."""


def _before_compiling(*args: Any) -> None:
    backend_compile_and_load(*args)  # what stands there now


execution.before_compiling.append(_before_compiling)


def __getattr__(name: str) -> Any:
    return public("jax._src.compiler", name)
