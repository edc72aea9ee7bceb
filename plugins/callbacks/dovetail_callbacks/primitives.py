"""Primitives that call Python functions, pure ones and ones with effects, and their effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dovetail_core import Effect, IOEffect, OrderedIOEffect, Primitive
from dovetail_text.syntax import register_parameter

from .host import HostFunction


@dataclass(frozen=True, slots=True)
class DebugEffect(IOEffect):
    """A program shows values while it runs (``debug.print``, ``log``, ``callback``)."""

    name: str = "debug"
    anywhere: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class OrderedDebugEffect(OrderedIOEffect):
    """A program shows values while it runs, in order."""

    name: str = "debug"
    anywhere: ClassVar[bool] = True


register_parameter(DebugEffect, name="debug")
register_parameter(OrderedDebugEffect, name="ordered_debug")


# All take arrays; ``callback`` is a function of NumPy arrays to a sequence of them.

pure_callback_p = Primitive("pure_callback", multiple_results=True)


@pure_callback_p.def_abstract_eval
def _pure_type(
    *avals: Any, callback: HostFunction, result_avals: tuple[Any, ...], vmap_method: str | None
) -> Any:
    return result_avals


def effect(ordered: bool) -> Effect:
    """The effect of input and output, ordered or not."""
    return OrderedIOEffect("io") if ordered else IOEffect("io")


io_callback_p = Primitive("io_callback", multiple_results=True)


@io_callback_p.def_effectful_abstract_eval
def _io_type(
    *avals: Any, callback: HostFunction, result_avals: tuple[Any, ...], ordered: bool
) -> Any:
    return result_avals, {effect(ordered)}


buffer_callback_p = Primitive("buffer_callback", multiple_results=True)
"""Its function writes to buffers of results."""


@buffer_callback_p.def_effectful_abstract_eval
def _buffer_type(
    *avals: Any, result_avals: tuple[Any, ...], has_side_effect: bool, **params: Any
) -> Any:
    return result_avals, {effect(False)} if has_side_effect else set()


debug_callback_p = Primitive("debug_callback", multiple_results=True)
debug_callback_p.def_traits(effect_only=True)


@debug_callback_p.def_effectful_abstract_eval
def _debug_type(
    *avals: Any, callback: HostFunction, ordered: bool, partitioned: bool = False
) -> Any:
    return (), {OrderedDebugEffect() if ordered else DebugEffect()}


for _p in (pure_callback_p, io_callback_p, buffer_callback_p, debug_callback_p):
    _p.def_traits(
        parameters={
            "callback": "the Python function",
            "command_buffer_compatible": "true if a GPU may record the operations that it starts",
            "has_side_effect": "true if it is called for its effect",
            "input_output_aliases": "pairs of numbers: an operand, and the result in its memory",
            "ordered": "true if calls keep their order",
            "partitioned": "true if each device calls it on its shards",
            "result_avals": "types of its results",
            "vmap_method": "the treatment by vmap",
        }
    )
