"""The primitives that call functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_custom_rules import custom

from .primitive import CallPrimitive

call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")
call = call_p.bind


class _CustomJvpCall(CallPrimitive):
    """A call of a function whose author says its derivative.

    Dovetail's programs have another primitive for each such call, which carries the rules.
    """

    def bind(
        self, *args: Any, subfuns: Sequence[Any], symbolic_zeros: bool = False, **params: Any
    ) -> Any:
        """Call ``fun(*args)``, of which ``jvp(*args, *tangents)`` returns results and tangents;
        ``subfuns`` are both."""
        fun, jvp = subfuns
        call = custom(lambda *xs: list(fun.call_wrapped(*xs)))

        def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            found = list(jvp.call_wrapped(*primals, *tangents))
            return found[: len(found) // 2], found[len(found) // 2 :]

        call.def_jvp(rule, symbolic_zeros)
        return call(*args)


custom_jvp_call_p = _CustomJvpCall("custom_jvp_call")
