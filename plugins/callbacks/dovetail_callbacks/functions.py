"""``pure_callback`` and ``io_callback``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_core import (
    ShapedArray,
    callable_name,
    canonical_dtype,
    current_source,
    describe_source,
    here,
    typeof,
)
from dovetail_tree.util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten

from .host import HostFunction
from .primitives import io_callback_p, pure_callback_p

_VMAP_METHODS = (
    "sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"
)  # fmt: skip


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function without side effects, also from inside of compiled programs.

    It may be called any number of times, or never if the result is not used.

    Args:
        callback: gets read-only NumPy arrays in the structure of ``args`` and ``kwargs``.
        result_shape_dtypes: a pytree of values with ``shape`` and ``dtype``, the types of its
            result. A type with ``weak_type``, as from ``eval_shape``, is that of a weakly typed
            result.
        sharding: accepted; the function runs on the host.
        vmap_method: the treatment by ``vmap``: ``"sequential"`` and ``"sequential_unrolled"`` call
            it once per element; ``"expand_dims"`` and ``"broadcast_all"`` once, with a leading axis
            on every argument (for arguments that are not mapped of size 1, or repeated).

    Raises:
        TypeError: the callback is not callable, an argument is not an array, or (when it runs) the
            result has another type than declared. ValueError: ``vmap_method`` is unknown,
            ``sharding`` is not a sharding, or types of 64 bits are declared but not enabled.
    """
    check_vmap_method("pure_callback", callback, vmap_method)
    if sharding is not None:
        arguments.placement("sharding", sharding)
    f, leaves, avals = _prepared("pure_callback", callback, result_shape_dtypes, args, kwargs)
    outs = pure_callback_p.bind(*leaves, callback=f, result_avals=avals, vmap_method=vmap_method)
    return tree_unflatten(f.out_tree, outs)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has side effects, once each time the program reaches this point.

    Args:
        callback, result_shape_dtypes, sharding: as in :func:`pure_callback`.
        ordered: keep the order of such calls, also among calls of different compiled functions.

    Raises:
        TypeError: as :func:`pure_callback`.
    """
    if sharding is not None:
        arguments.placement("sharding", sharding)
    f, leaves, avals = _prepared("io_callback", callback, result_shape_dtypes, args, kwargs)
    outs = io_callback_p.bind(*leaves, callback=f, result_avals=avals, ordered=bool(ordered))
    return tree_unflatten(f.out_tree, outs)


def _prepared(
    what: str, callback: Any, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[HostFunction, list[Any], tuple[ShapedArray, ...]]:
    avals, out_tree = declared(what, callback, result)
    leaves, in_tree = taken(what, callback, args, kwargs)
    return HostFunction(what, callback, in_tree, out_tree), leaves, avals


def declared(what: str, callback: Any, result: Any) -> tuple[tuple[ShapedArray, ...], Any]:
    """The types and the structure of the declared result.

    Raises:
        TypeError: ``callback`` is not callable, or ``result`` has leaves other than types.
    """
    if not callable(callback):
        raise TypeError(
            f"{what} takes a function, got {callback!r} of type {type(callback).__name__}"
        )
    shapes, out_tree = tree_flatten(result)
    return tuple([_declared(s, what, callback) for s in shapes]), out_tree


def check_vmap_method(what: str, callback: Any, method: str | None) -> None:
    """Raise ValueError unless ``method`` is a known ``vmap_method``."""
    if method is not None and method not in _VMAP_METHODS:
        raise ValueError(
            f"{what} of {callable_name(callback)}{here()}: vmap_method={method!r} is unknown. It "
            f"may be None or one of {', '.join(map(repr, _VMAP_METHODS))}."
        )


def taken(
    what: str, callback: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], Any]:
    """The arrays among arguments, and their structure."""
    leaves, in_tree = tree_flatten((args, kwargs))
    for x in leaves:
        _check_argument(x, what, callback, args, kwargs)
    return leaves, in_tree


def _check_argument(x: Any, what: str, callback: Any, args: Any, kwargs: Any) -> None:
    try:
        typeof(x)
    except TypeError as e:
        paths = tree_flatten_with_path((args, kwargs))[0]
        path = next(p for p, y in paths if y is x)
        where = f"{'kwargs' if path[0].idx else 'args'}{keystr(path[1:])}"  # type: ignore[attr-defined]
        raise TypeError(
            f"{what} of {callable_name(callback)}: {where}{describe_source(current_source())}: {e}"
        ) from None


def _declared(x: Any, what: str, callback: Any) -> ShapedArray:
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise TypeError(
            f"{what} of {callable_name(callback)}: result_shape_dtypes must be a pytree of values "
            f"with shape and dtype, such as ShapeDtypeStruct(shape, dtype), but has {x!r}"
            f"{describe_source(current_source())}"
        )
    dtype = canonical_dtype(x.dtype)
    if dtype != x.dtype and np.dtype(x.dtype).kind in "iufc":
        raise ValueError(
            f"{what} of {callable_name(callback)}: result_shape_dtypes has dtype "
            f"{np.dtype(x.dtype).name}, and types of 64 bits are not enabled"
            f"{describe_source(current_source())}. Declare {dtype.name}, or enable them "
            "(jax_enable_x64)."
        )
    described = not hasattr(x, "aval")  # a type, of which all counts; a value is an example
    weak = described and bool(getattr(x, "weak_type", False))
    return ShapedArray(tuple(x.shape), dtype, weak_type=weak)
