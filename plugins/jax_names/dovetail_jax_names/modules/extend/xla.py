"""``jax.extend.xla``: functions that XLA's compilers run on modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dovetail_core import here as _here
from dovetail_xla import transforms as _transforms
from dovetail_xla.transforms import PipelineStage as PipelineStage

from ...lookup import attributes as _attributes
from .backend import backends as _backends

_PRE = PipelineStage.PRE_SCHEDULER


def register_hlo_module_transformation(
    callback: Callable[[bytes], bytes | None],
    *,
    name: str,
    stage: PipelineStage = _PRE,
    platforms: Sequence[str] | str | None = None,
) -> None:
    """Let the compilers run a function on each module that is compiled from now on.

    Args:
        callback: takes a serialized ``HloModuleProto``; returns a changed one, or None.
        name: by which it is taken away again.
        stage: when it runs; those of one stage run in the order in which they were registered.
        platforms: whose compilers; None means those of all platforms that can be used here.

    Raises:
        TypeError: ``callback`` is no function, or ``stage`` no :class:`PipelineStage`.
        ValueError: a platform is unknown or not usable here.
    """
    if not callable(callback):
        raise TypeError(
            f"register_hlo_module_transformation takes a function, got {callback!r}{_here()}"
        )
    for platform, client in _clients(platforms, stage):
        _transforms.register(client, platform, name, stage, callback)


def clear_hlo_module_transformation(
    name: str, stage: PipelineStage = _PRE, platforms: Sequence[str] | str | None = None
) -> bool:
    """Take a function away that was registered by ``name``; whether there was one."""
    result = [_transforms.clear(c, p, name, stage) for p, c in _clients(platforms, stage)]
    return any(result)


def _clients(
    platforms: Sequence[str] | str | None, stage: PipelineStage
) -> list[tuple[str, object]]:
    if not isinstance(stage, PipelineStage):
        raise TypeError(f"the stage must be a PipelineStage, got {stage!r}{_here()}")
    there = _backends()
    if platforms is None:
        return list(there.items())
    wanted = [platforms] if isinstance(platforms, str) else list(platforms)
    for platform in wanted:
        if platform not in there:
            raise ValueError(
                f"platform {platform!r} is unknown or not usable here{_here()}: there are "
                f"{', '.join(there)}"
            )
    return [(platform, there[platform]) for platform in wanted]


__getattr__, __dir__ = _attributes("jax.extend.xla")
