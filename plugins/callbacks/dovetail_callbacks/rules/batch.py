"""Batching rules of callbacks: one call per element, or one call on complete arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_batching import batch_rules
from dovetail_core import Primitive, algebra

from ..primitives import buffer_callback_p, debug_callback_p, io_callback_p, pure_callback_p

Dims = Sequence[int | None]


def _in_front(args: Sequence[Any], dims: Dims) -> list[Any]:
    return [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]


def _sequential(bind: Callable[..., Any], args: Sequence[Any], dims: Dims) -> Any:
    """One call per element, in order."""
    moved = _in_front(args, dims)
    mapped = [x for x, d in zip(moved, dims) if d is not None]

    def one(elements: Sequence[Any]) -> Any:
        rest = iter(elements)
        return tuple(bind(*[x if d is None else next(rest) for x, d in zip(moved, dims)]))

    outs = lax.map(one, mapped)
    return list(outs), [0] * len(outs)


def _unrolled(bind: Callable[..., Any], size: int, args: Sequence[Any], dims: Dims) -> Any:
    moved = _in_front(args, dims)
    results = [
        bind(*[x if d is None else lax.index_in_dim(x, i, 0, False) for x, d in zip(moved, dims)])
        for i in range(size)
    ]
    outs = [lax.concatenate([lax.expand_dims(y, (0,)) for y in ys], 0) for ys in zip(*results)]
    return outs, [0] * len(outs)


@batch_rules.register(pure_callback_p)
def _pure_batch(axis: Any, args: Sequence[Any], dims: Dims, **params: Any) -> Any:
    return _by_method(pure_callback_p, axis, args, dims, params, ())


@batch_rules.register(buffer_callback_p)
def _buffer_batch(axis: Any, args: Sequence[Any], dims: Dims, **params: Any) -> Any:
    """Batch the callback; aliased arguments have the mapped axis, as their results have."""
    aliased = [i for i, _ in params["input_output_aliases"]]
    return _by_method(buffer_callback_p, axis, args, dims, params, aliased)


def _by_method(
    primitive: Primitive,
    axis: Any,
    args: Sequence[Any],
    dims: Dims,
    params: dict[str, Any],
    full_size: Sequence[int],
) -> Any:
    """Batch by ``vmap_method``; operands in ``full_size`` get an axis of full size in one call."""
    method, callback = params["vmap_method"], params["callback"]
    if method is None:
        raise NotImplementedError(
            f"{callback} is mapped by vmap, and does not say how. Pass vmap_method='sequential' "
            "(one call per element), or 'expand_dims' or 'broadcast_all' where the function takes "
            "arrays with leading axes."
        )

    def bind(*xs: Any) -> list[Any]:
        return primitive.bind(*xs, **params)

    if method == "sequential":
        return _sequential(bind, args, dims)
    if method == "sequential_unrolled":
        return _unrolled(bind, axis.size, args, dims)
    widths = {"expand_dims": 1, "broadcast_all": axis.size}
    sizes = [axis.size if i in full_size else widths.get(method) for i in range(len(args))]
    moved = [
        algebra().broadcast(x, size, 0) if d is None and size is not None else x
        for x, d, size in zip(_in_front(args, dims), dims, sizes)
    ]
    avals = tuple(a.update(shape=(axis.size, *a.shape)) for a in params["result_avals"])
    outs = primitive.bind(*moved, **{**params, "result_avals": avals})
    return outs, [0] * len(outs)


@batch_rules.register(io_callback_p)
def _io_batch(axis: Any, args: Sequence[Any], dims: Dims, **params: Any) -> Any:
    if params["ordered"]:
        raise ValueError(
            f"{params['callback']} has an ordered effect, and is mapped by vmap: elements of a "
            "mapped axis have no order. Pass ordered=False, or use lax.map or lax.scan."
        )
    return _sequential(lambda *xs: io_callback_p.bind(*xs, **params), args, dims)


@batch_rules.register(debug_callback_p)
def _debug_batch(axis: Any, args: Sequence[Any], dims: Dims, **params: Any) -> Any:
    return _sequential(lambda *xs: debug_callback_p.bind(*xs, **params), args, dims)
