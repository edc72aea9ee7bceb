"""Lowering: a call from the compiled program back into Python."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules

from ..primitives import debug_callback_p, io_callback_p, pure_callback_p


@stablehlo_rules.register(pure_callback_p)
def _pure_stablehlo(
    b: Any, *operands: Any, callback: Any, result_avals: Any, vmap_method: Any
) -> list[Any]:
    def call(*arrays: Any) -> list[Any]:
        return callback.checked(result_avals, *arrays)

    return b.host_callback(call, operands, list(result_avals), str(callback))


@stablehlo_rules.register(io_callback_p)
def _io_stablehlo(
    b: Any, *operands: Any, callback: Any, result_avals: Any, ordered: bool
) -> list[Any]:
    def call(*arrays: Any) -> list[Any]:
        return callback.checked(result_avals, *arrays)

    outs = list(result_avals)
    return b.host_callback(call, operands, outs, str(callback), effect=True, ordered=ordered)


@stablehlo_rules.register(debug_callback_p)
def _debug_stablehlo(b: Any, *operands: Any, callback: Any, ordered: bool) -> list[Any]:
    return b.host_callback(callback, operands, [], str(callback), effect=True, ordered=ordered)
