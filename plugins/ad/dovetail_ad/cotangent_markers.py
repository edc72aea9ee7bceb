"""Where the cotangents go that ``vjp(...)[1].with_refs`` is asked for: ``dovetail.ad``."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail_tree.util import register_pytree_node

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]


@dataclass(frozen=True)
class GradValue:
    """In the place of an argument: its cotangent is returned."""


@dataclass(frozen=True)
class DontWant:
    """In the place of an argument: its cotangent is not wanted."""


@dataclass(frozen=True)
class GradRef:
    """In the place of a cotangent: it was added to the reference that was given."""


@dataclass(frozen=True)
class DidntWant:
    """In the place of a cotangent: it was not wanted."""


for _class in (GradRef, DidntWant):
    register_pytree_node(_class, lambda _: ((), None), lambda _, __, c=_class: c())
