"""Mutable values of the parent that stand for local ones of a trace, for custom rules.

Custom rules are used after the trace has ended, too, and need a mutable value then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.primitive import run_under
from .mutable import LocalValue

Lent = dict[int, tuple[LocalValue, Any]]
"""Local values, and the values that stand for them, by the ids of the former."""


def lend(lent: Lent, local: LocalValue, held: Sequence[Any]) -> Any:
    """The value that stands for a local one, made if there is none yet, with contents ``held``.

    Called under the trace that it belongs to.
    """
    if id(local) not in lent:
        lent[id(local)] = local, local.aval.make(held)
    else:
        local.aval.write(lent[id(local)][1], held)
    return lent[id(local)][1]


def read_lent(lent: Lent, local: LocalValue, owner: Any) -> None:
    """Set a local value's contents to those of the value of ``owner`` that stands for it."""
    _, made = lent[id(local)]
    local.contents[:] = run_under(owner, local.aval.read, made)
