"""``jax._src.tree_util``. orbax: ``flatten_one_level``; flax: ``_registry``, for ``in``; pickles of
tree structures name ``default_registry``.
"""

from __future__ import annotations

from typing import Any

from dovetail_core.tree.util import (
    default_registry as default_registry,
    flatten_one_level as flatten_one_level,
    is_tree_node,
)

from .absent import absent


class _Registered:
    """The classes whose values are containers; which, cannot be listed."""

    def __contains__(self, kind: object) -> bool:
        return is_tree_node(kind)


_registry = _Registered()


def __getattr__(name: str) -> Any:
    raise absent("jax._src.tree_util", name)
