"""Loops with ``checkpoint=``: bound by the plugin that provides ``loop_checkpointing``."""

from __future__ import annotations

from typing import Any

from dovetail_core import PluginError, registry


def checkpointing(what: str, scheme: Any) -> Any:
    """The provider of checkpointed loops, once it has looked at a scheme.

    Raises:
        PluginError: no active plugin provides them. TypeError: ``scheme`` is no scheme.
    """
    provider = registry().provider("loop_checkpointing", default=None)
    if provider is None:
        aside = registry().aside()
        note = f" Set aside: {aside}." if aside else ""
        raise PluginError(
            f"{what}(checkpoint=...) needs a plugin that provides 'loop_checkpointing': install or "
            f"enable the plugin 'remat' (DOVETAIL_PLUGINS, DOVETAIL_DISABLE_PLUGINS), or leave out "
            f"checkpoint=.{note}"
        )
    provider.check(what, scheme)
    return provider
