"""The primitives that call functions."""

from __future__ import annotations

from .primitive import CallPrimitive

call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")
call = call_p.bind
