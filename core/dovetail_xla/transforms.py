"""Python functions that XLA's compilers run on modules in their own form (serialized HLO)."""
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from .client import loaded_plugins
from .loading import load

Transform = Callable[[bytes], "bytes | None"]


class PipelineStage(Enum):
    """The stage at which modules are handed over: before or after scheduling of instructions."""

    PRE_SCHEDULER = 0
    POST_SCHEDULER = 1


registered: dict[tuple[str, str, PipelineStage], Transform] = {}
"""The registered functions, by platform, name and stage."""


def register(client: Any, platform: str, name: str, stage: PipelineStage, f: Transform) -> None:
    """Let the compiler of a platform run ``f`` on modules; those of one stage run in turn.

    ``f`` takes and returns a serialized ``HloModuleProto``; None where it changes nothing.
    """
    bindings = load("_xla")
    if platform in loaded_plugins():
        bindings.register_xla_transform_c_api(client, name, stage.value, f)
    else:
        bindings.register_xla_transform(name, stage.value, f)
    registered[platform, name, stage] = f


def clear(client: Any, platform: str, name: str, stage: PipelineStage) -> bool:
    """Remove a function; returns whether there was one."""
    bindings = load("_xla")
    registered.pop((platform, name, stage), None)
    if platform in loaded_plugins():
        return bool(bindings.clear_xla_transform_c_api(client, name, stage.value))
    return bool(bindings.clear_xla_transform(name, stage.value))


def names() -> list[str]:
    """The functions that are registered, as text for the keys of compiled programs."""
    return sorted(
        f"{platform} {name} {stage.name} {getattr(f, '__module__', '')}:"
        f"{getattr(f, '__qualname__', type(f).__qualname__)}"
        for (platform, name, stage), f in registered.items()
    )
