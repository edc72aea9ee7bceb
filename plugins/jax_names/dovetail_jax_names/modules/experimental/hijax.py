"""``jax.experimental.hijax``: ``dovetail.hijax``, and what JAX's users say beside it."""

from __future__ import annotations

from typing import Any

from ...lookup import attributes as _attributes


class _AllEffects:
    """The effects that operations within loops and branches may have: all of them."""

    def add_type(self, effect_type: type) -> None:
        """Allow effects of a type, which need not be asked for here."""

    def contains(self, effect: Any) -> bool:
        """True if an effect is allowed."""
        return True

    def filter_in(self, effects: Any) -> list[Any]:
        """Those that are allowed."""
        return list(effects)

    def filter_not_in(self, effects: Any) -> list[Any]:
        """Those that are not."""
        return []


control_flow_allowed_effects = _AllEffects()

__getattr__, __dir__ = _attributes("jax.experimental.hijax", facade="dovetail.hijax")
