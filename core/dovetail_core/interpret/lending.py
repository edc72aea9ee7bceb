"""Mutable values of the parent that stand for local ones of a trace, in functions with rules.

Such rules are used when the trace has ended, too, and must find a mutable value then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.primitive import run_under
from .mutable import LocalValue

Lent = dict[int, tuple[LocalValue, Any]]
"""By the ids of local values: these, and what stands for them."""


def lend(lent: Lent, local: LocalValue, held: Sequence[Any]) -> Any:
    """What stands for a local value, made if there is none yet; it holds ``held`` then.

    Called under the trace that it belongs to.
    """
    if id(local) not in lent:
        lent[id(local)] = local, local.aval.make(held)
    else:
        local.aval.write(lent[id(local)][1], held)
    return lent[id(local)][1]


def read_lent(lent: Lent, local: LocalValue, owner: Any) -> None:
    """Have a local value hold what the value of ``owner`` does that stands for it."""
    _, made = lent[id(local)]
    local.contents[:] = run_under(owner, local.aval.read, made)
