"""Rules of ``ad.jvp`` that refuse callbacks, whose derivatives are not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ..primitives import buffer_callback_p, io_callback_p, pure_callback_p


def _refuse(callback: Any) -> Any:
    raise ValueError(
        f"{callback} is differentiated, but the derivative of a Python function is not known. Wrap "
        "the function that calls it with dovetail.custom_jvp or dovetail.custom_vjp and give its "
        "rule, or use dovetail.lax.stop_gradient on its arguments."
    )


@jvp_rules.register(pure_callback_p)
def _pure_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    return _refuse(params["callback"])


@jvp_rules.register(buffer_callback_p)
def _buffer_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    return _refuse(params["callback"])


@jvp_rules.register(io_callback_p)
def _io_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    return _refuse(params["callback"])
