"""Markers for arguments and results of ``vjp(...)[1].with_refs``: the namespace ``dovetail.ad``."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail_tree.util import register_pytree_node

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]


@dataclass(frozen=True)
class GradValue:
    """Marks an argument whose cotangent is returned."""


@dataclass(frozen=True)
class DontWant:
    """Marks an argument whose cotangent is not computed."""


@dataclass(frozen=True)
class GradRef:
    """Returned instead of a cotangent that was added to the given reference."""


@dataclass(frozen=True)
class DidntWant:
    """Returned instead of a cotangent that was not requested (see :class:`DontWant`)."""


for _class in (GradRef, DidntWant):
    register_pytree_node(_class, lambda _: ((), None), lambda _, __, c=_class: c())
