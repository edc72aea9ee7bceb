"""The decisions of policies on an operation: keep its results, compute them again, or move them.

A policy may return a bool, ``Saveable``, ``Recompute`` or an ``Offloadable``, which keeps the
results in another memory until the backward pass needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dovetail_core import Eqn, describe_source

Policy = Callable[..., Any]


class _Answer:
    """A decision without details; it is true if values are kept."""

    __slots__ = ("name", "keeps")

    def __init__(self, name: str, keeps: bool) -> None:
        self.name = name
        self.keeps = keeps

    def __bool__(self) -> bool:
        return self.keeps

    def __repr__(self) -> str:
        return self.name


Saveable = _Answer("Saveable", True)
"""Keep the operation's results in their memory."""
Recompute = _Answer("Recompute", False)
"""Compute the operation's results again."""


class Offloadable(NamedTuple):
    """Keep the results in memory ``dst`` (as ``"pinned_host"``), and bring them back to ``src``."""

    src: str
    dst: str


Verdict = _Answer | Offloadable


def verdict(policy: Policy, eqn: Eqn) -> Verdict:
    """The decision of ``policy``, or of the primitive's own rule, on an equation.

    Raises:
        TypeError: it is none of the above; names the operation and its source line.
    """
    keep = None if eqn.primitive.rules is None else eqn.primitive.rules.get("remat.keep")
    if keep is not None:
        result = keep(policy, eqn)
    else:
        result = policy(eqn.primitive, *[x.aval for x in eqn.invars], **eqn.params)
    if result is True or result is Saveable:
        return Saveable
    if result is False or result is Recompute:
        return Recompute
    if isinstance(result, Offloadable):
        return result
    try:
        return Saveable if bool(result) else Recompute
    except Exception:
        raise TypeError(
            f"the checkpoint policy {policy!r} answered {result!r} for "
            f"{eqn.primitive.name!r}{describe_source(eqn.source)}: a policy returns a bool, "
            "Saveable, Recompute or Offloadable(src, dst)"
        ) from None
