"""Evaluation and lowering of callbacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import put_host, reference_rules, stablehlo_rules
from dovetail_core import def_impl, typeof
from dovetail_xla.callbacks import as_reported

from ..host import HostFunction
from ..primitives import buffer_callback_p, debug_callback_p, io_callback_p, pure_callback_p
from .lowering import on_arrays


def read_only(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of the value's type that refuses to be written to."""
    aval: Any = typeof(x)
    result = np.asarray(x, aval.dtype).view()
    result.flags.writeable = False
    return result


def _call(args: Any, callback: HostFunction, result_avals: tuple[Any, ...]) -> list[Any]:
    if any(a.is_high for a in (*map(typeof, args), *result_avals)):
        return on_arrays(_call_low, args, callback, result_avals)
    return _call_low(*args, callback=callback, result_avals=result_avals)


def _call_reported(args: Any, callback: HostFunction, result_avals: tuple[Any, ...]) -> list[Any]:
    try:
        return _call(args, callback, result_avals)
    except Exception as error:
        failure = [as_reported(error)]
        if failure[0] is error:
            raise
    raise failure.pop()


def _call_low(*args: Any, callback: HostFunction, result_avals: tuple[Any, ...]) -> list[Any]:
    result = callback.checked(result_avals, *[read_only(x) for x in args])
    return [put_host(x, a) for x, a in zip(result, result_avals)]


@def_impl(pure_callback_p)
def _pure_eval(*args: Any, callback: Any, result_avals: Any, vmap_method: Any) -> list[Any]:
    return _call_reported(args, callback, result_avals)


@def_impl(io_callback_p)
def _io_eval(*args: Any, callback: Any, result_avals: Any, ordered: bool) -> list[Any]:
    return _call_reported(args, callback, result_avals)


@def_impl(debug_callback_p)
def _debug_eval(*args: Any, callback: Any, ordered: bool, partitioned: bool = False) -> list[Any]:
    return _call(args, callback, ())


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


@stablehlo_rules.register(buffer_callback_p)
def _buffer_stablehlo(
    b: Any,
    *operands: Any,
    callback: HostFunction,
    result_avals: Any,
    has_side_effect: bool,
    vmap_method: Any,
    input_output_aliases: Any,
    command_buffer_compatible: bool,
) -> list[Any]:
    def call(context: Any, *buffers: Any) -> None:
        callback.write(context, buffers[: len(operands)], buffers[len(operands) :])

    return b.buffer_callback(
        call,
        operands,
        list(result_avals),
        str(callback),
        effect=has_side_effect,
        aliases=dict(input_output_aliases),
        recorded=command_buffer_compatible,
    )


@stablehlo_rules.register(debug_callback_p)
def _debug_stablehlo(
    b: Any, *operands: Any, callback: Any, ordered: bool, partitioned: bool = False
) -> list[Any]:
    how = {"effect": True, "ordered": ordered, "partitioned": partitioned}
    return b.host_callback(callback, operands, [], str(callback), **how)


@reference_rules.register(pure_callback_p)
def _pure_reference(*args: Any, callback: Any, result_avals: Any, vmap_method: Any) -> list[Any]:
    return callback.checked(result_avals, *map(read_only, args))


@reference_rules.register(io_callback_p)
def _io_reference(*args: Any, callback: Any, result_avals: Any, ordered: bool) -> list[Any]:
    return callback.checked(result_avals, *map(read_only, args))


@reference_rules.register(buffer_callback_p)
def _buffer_reference(*args: Any, callback: HostFunction, **params: Any) -> Any:
    raise NotImplementedError(
        f"{callback} is evaluated with NumPy, where programs have no buffers. Compile it for a CPU "
        "or a GPU, or use dovetail.pure_callback."
    )


@reference_rules.register(debug_callback_p)
def _debug_reference(
    *args: Any, callback: Any, ordered: bool, partitioned: bool = False
) -> list[Any]:
    return callback.checked((), *map(read_only, args))
