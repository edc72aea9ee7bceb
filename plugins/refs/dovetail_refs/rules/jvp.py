"""Rules of ``ad.jvp``: a value with a tangent cannot be written to a reference from outside.

A reference made in a differentiated function is a local value of the trace (see
``dovetail_core.mutable_values``), to which these rules are not applied. One from outside has arrays
without tangents as contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_ad import jvp_rules
from dovetail_core import Primitive, here, typeof

from ..primitives import VERBS


def _refuse_tangent(primitive: Primitive) -> None:
    @jvp_rules.register(primitive)
    def _rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> NoReturn:  # pyright: ignore[reportUnusedFunction]
        ref, value = typeof(primals[0]), typeof(primals[1])
        raise TypeError(
            f"a value of type {value.str_short()} that is being differentiated is "
            f"{VERBS[primitive]} to {ref.str_short()}{here()}, which "
            "was made outside of the differentiated function and cannot have a derivative. "
            "Pass dovetail.lax.stop_gradient(value) if its derivative is not wanted, or make the "
            "reference inside of the function."
        )


for _primitive in VERBS:
    _refuse_tangent(_primitive)
