"""``buffer_callback``: Python functions that write their results into the program's memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dovetail_core import callable_name, here, typeof
from dovetail_lax import dtypes
from dovetail_tree.util import tree_unflatten
from dovetail_xla.callbacks import (
    Buffer as Buffer,
    ExecutionContext as ExecutionContext,
    ExecutionStage as ExecutionStage,
)

from .functions import check_vmap_method, declared, taken
from .host import HostFunction
from .primitives import buffer_callback_p

__all__ = ["Buffer", "ExecutionContext", "ExecutionStage", "buffer_callback"]


def buffer_callback(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: dict[int, int] | None = None,
    command_buffer_compatible: bool = False,
) -> Callable[..., Any]:
    """A function of arrays, computed by a Python function on their memory, without copies.

    ``callback(ctx, out, *args, **kwargs)`` gets an :class:`ExecutionContext` (on a GPU with its
    ``stream``) and :class:`Buffer` objects, which NumPy and other libraries read by
    ``__array__``, ``__dlpack__`` or ``__cuda_array_interface__``. It writes all elements of the
    buffers in ``out``, whose contents are undefined before, and returns None. It must not write to
    buffers of arguments, which are the caller's arrays, nor keep any: they are invalid after it
    returns.

    Programs for CPUs and GPUs have buffers; without ``jit`` one is compiled for the call.

    Args:
        callback: as above; exceptions that it raises are raised when results are awaited.
        result_shape_dtypes: a pytree of values with ``shape`` and ``dtype``: the structure and the
            types of ``out``.
        has_side_effect: call it even if nothing uses its results.
        vmap_method: the treatment by ``vmap``, as in :func:`dovetail.pure_callback`.
        input_output_aliases: maps numbers of arguments to numbers of results (both flattened) that
            begin with the argument's value, and with its memory if that is free.
        command_buffer_compatible: a GPU may record the operations that it starts, and repeat them
            without calling it again.

    Returns: a function of pytrees of arrays, given to ``callback`` in the same structure.

    Raises:
        TypeError: ``callback`` is not callable or ``result_shape_dtypes`` has leaves other than
            types; when called, an argument is not an array, or has elements smaller than a byte;
            when it runs, it does not return None.
        ValueError: ``vmap_method`` is unknown, or (when called) aliases name arguments or results
            that do not exist, or have different types.
    """
    avals, out_tree = declared("buffer_callback", callback, result_shape_dtypes)
    check_vmap_method("buffer_callback", callback, vmap_method)
    aliases = tuple((input_output_aliases or {}).items())

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = taken("buffer_callback", callback, args, kwargs)
        in_avals: list[Any] = [typeof(x) for x in leaves]
        _check_elements(callback, [*in_avals, *avals])
        _check_aliases(dict(aliases), callback, in_avals, avals)
        outs = buffer_callback_p.bind(
            *leaves,
            callback=HostFunction("buffer_callback", callback, in_tree, out_tree),
            result_avals=avals,
            has_side_effect=bool(has_side_effect),
            vmap_method=vmap_method,
            input_output_aliases=aliases,
            command_buffer_compatible=bool(command_buffer_compatible),
        )
        return tree_unflatten(out_tree, outs)

    return call


def _check_elements(callback: Any, avals: list[Any]) -> None:
    for aval in avals:
        if dtypes.kind_of(aval.dtype) != "other" and dtypes.itemsize_bits(aval.dtype) < 8:
            prefix = f"buffer_callback of {callable_name(callback)}{here()}"
            raise TypeError(
                f"{prefix}: arrays of {aval.dtype.name} have "
                "several elements in a byte, and NumPy's have one. Convert what it takes, and "
                "declare what it gives, as int8 or float32 (x.astype)."
            )


def _check_aliases(aliases: Mapping[int, int], callback: Any, ins: Any, outs: Any) -> None:
    for i, o in aliases.items():
        prefix = f"buffer_callback of {callable_name(callback)}{here()}: input_output_aliases has"
        for what, number, there in (("argument", i, ins), ("result", o, outs)):
            if not 0 <= number < len(there):
                raise ValueError(
                    f"{prefix} {{{i}: {o}}}, and there is no {what} {number}. It maps numbers of "
                    f"arguments to those of results; flattened, there are {len(there)} {what}s."
                )
        given, result = ins[i], outs[o]
        if (given.shape, given.dtype) != (result.shape, result.dtype):
            raise ValueError(
                f"{prefix} {{{i}: {o}}}, but the argument is {given.str_short()} and the result "
                f"{result.str_short()}. Only arrays of one type can have the same memory."
            )
