"""``vmap``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from operator import index
from typing import Any

from dovetail_base.errors import refuse_mutable_result
from dovetail_base.source import run_transformed
from dovetail_base.wrapping import wraps
from dovetail_core import (
    HiType,
    ShardingTypeError,
    callable_name,
    get_trace,
    here,
    is_value,
    leaks,
    mutable_values,
    run_under,
    typeof,
)
from dovetail_tree.util import (
    tree_flatten,
    tree_unflatten,
)

from .axes import check_axes, common_size, input_dims, is_spec, leaf_names, spread_over
from .out_axes import DependsOnAxis, missing_out_axis, with_out_axes, with_out_axis
from .trace import Axis, Batched, batch_values
from .vmappable import classes, elements, is_vmappable, unbatched_result


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable = None,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """Map ``fun`` over an axis of its arguments, as one program on whole arrays.

    Args:
        in_axes: an integer, None, or a sequence with one entry per positional argument; entries
            are integers, None (not mapped) or pytrees of them that are prefixes of the argument;
            for a value of a high type a spec that its type understands.
            Keyword arguments are mapped over axis 0.
        out_axes: the position of the mapped axis in the result: an integer, None, or a prefix
            pytree.
        axis_name: a name by which collectives such as ``psum`` refer to the axis.
        axis_size: the length of the axis; needed only if no argument is mapped.
        spmd_axis_name: mesh axes that the mapped axis is sharded over, kept with the axis.
        sum_match: if True, results whose ``out_axes`` are None and that depend on the mapped axis
            are summed over it, as ``numpy.sum`` does; otherwise they are an error.

    Raises:
        TypeError, ValueError: ``in_axes`` does not fit the arguments, or mapped axes differ in
            length; names the arguments.
    """
    if not callable(fun):  # pyright: ignore[reportUnnecessaryComparison]
        raise TypeError(f"vmap takes a function, got {fun!r} of type {type(fun).__name__}{here()}")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)  # type: ignore[arg-type]
    if not (in_axes is None or isinstance(in_axes, (int, tuple)) or is_spec(in_axes)):
        raise TypeError(
            "vmap: in_axes must be an integer, None or a tuple with one entry per positional "
            f"argument, got {type(in_axes).__name__}{here()}"
        )
    check_axes(in_axes=in_axes, out_axes=out_axes)
    if axis_size is not None:
        if not hasattr(axis_size, "__index__"):
            raise TypeError(f"vmap: axis_size must be an integer, got {axis_size!r}{here()}")
        axis_size = int(index(axis_size))
    name = callable_name(fun)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree_flatten((args, kwargs), is_leaf=is_vmappable if classes else None)
        dims = input_dims(name, in_axes, args, kwargs, leaves)
        size = common_size(name, axis_size, args, kwargs, leaves, dims)
        _check_mutable(name, args, kwargs, leaves)
        out_tree: list[Any] = []
        axis = _axis(name, Axis(size, axis_name, _as_tuple(spmd_axis_name)), leaves, dims)
        move = partial(with_out_axis, name, axis, sum_match=sum_match)
        if classes:
            return _map_with_classes(name, fun, axis, (leaves, in_tree, dims), out_axes, move)

        def flat(*xs: Any) -> list[Any]:
            a, k = tree_unflatten(in_tree, xs)
            result, tree = tree_flatten(run_transformed("vmap", fun, *a, **k))
            out_tree[:] = [tree]
            for y in result:
                _check_result(name, y, tree)
            return result

        results = leaks.leak_checked(batch_values)(flat, axis, leaves, dims)
        tree = tree_unflatten(out_tree[0], [x for x, _ in results])
        out_dims = spread_over(f"vmap of {name}: out_axes", out_axes, tree)
        return tree_unflatten(out_tree[0], with_out_axes(move, tree, results, out_dims))

    return mapped


def mapped_arguments(
    name: str, in_axes: Any, axis_size: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], Any, list[int | None], int]:
    """The leaves and structure of a call's arguments, for each leaf its mapped axis or None, and
    the common length of these axes.

    Raises:
        TypeError, ValueError: as :func:`vmap`.
    """
    leaves, in_tree = tree_flatten((args, kwargs))
    dims = input_dims(name, in_axes, args, kwargs, leaves)
    return leaves, in_tree, dims, common_size(name, axis_size, args, kwargs, leaves, dims)


def mapped_results(name: str, out_axes: Any, result: Any) -> list[int | None]:
    """The position of the mapped axis, or None, for each leaf of a result.

    Raises:
        TypeError, ValueError: as :func:`vmap`.
    """
    return spread_over(f"vmap of {name}: out_axes", out_axes, result)


class MixedAxes(ShardingTypeError, ValueError):
    """Mapped axes are sharded differently; in a rule, this makes a sharding ambiguous."""


def _axis(name: str, axis: Axis, leaves: Sequence[Any], dims: Sequence[Any]) -> Axis:
    """``axis`` with the mesh axes over which the types of arguments are sharded along it.

    Raises:
        ValueError: arguments differ in these, or ``spmd_axis_name`` names others.
    """
    given = [(x, d) for x, d in zip(leaves, dims) if d is not None and not is_vmappable(x)]
    if not any(a.divided is not None for a in [typeof(x) for x, _ in given]):
        return axis
    result: dict[Any, str] = {}
    for x, d in given:
        aval: Any = typeof(x)
        if not isinstance(aval, HiType):
            divided = aval.divided
            axes = None if divided is None else divided.spec.partitions[d]
            result.setdefault(axes, aval.str_short())
    if len(result) > 1:
        (a, first), (b, second), *_ = result.items()
        raise MixedAxes(
            f"vmap of {name}{here()}: mapped axes must be divided along the same axes of the mesh, "
            f"and are along {a!r} in {first} and {b!r} in {second}. Reshard the arguments "
            "(dovetail.sharding.reshard)."
        )
    (axes,) = result
    if axes is not None and axis.spmd_name not in (None, _as_tuple(axes)):
        raise ValueError(
            f"vmap of {name}{here()}: spmd_axis_name is {axis.spmd_name!r}, and the mapped axes "
            f"are divided along {axes!r}, as types tell. Leave spmd_axis_name out."
        )
    return axis if axes is None else replace(axis, explicit_mesh_axis=axes)


def _as_tuple(name: Any) -> Any:
    return name if name is None or isinstance(name, tuple) else (name,)


def _map_with_classes(
    name: str, fun: Callable[..., Any], axis: Axis, given: tuple[Any, Any, Any], out_axes: Any,
    move: Callable[[Batched, Any], Any],
) -> Any:  # fmt: skip
    """The result of a mapped call with arguments or results of registered classes."""
    leaves, in_tree, dims = given
    plain, plain_dims, fill = elements(axis, leaves, dims)
    results: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        a, k = tree_unflatten(in_tree, fill(xs))
        out = run_transformed("vmap", fun, *a, **k)
        result, tree = tree_flatten(out, is_leaf=is_vmappable)
        out_dims = spread_over(f"vmap of {name}: out_axes", out_axes, out)
        trace: Any = get_trace()
        for i, (y, d) in enumerate(zip(result, out_dims)):
            if is_vmappable(y):
                results.append(unbatched_result(axis, y, d, move))
                continue
            _check_result(name, y, tree)
            value = trace.lower(y)
            try:
                results.append(run_under(trace.parent, move, value, d))
            except DependsOnAxis as e:
                raise missing_out_axis(e, tree, i, value[1]) from None
        results.append(tree)
        return []

    leaks.leak_checked(batch_values)(flat, axis, plain, plain_dims)
    return tree_unflatten(results.pop(), results)


def _check_mutable(name: str, args: Any, kwargs: Any, leaves: Sequence[Any]) -> None:
    mutable = [i for i, x in enumerate(leaves) if is_value(x) and typeof(x).is_mutable]
    if len(mutable) > 1:
        names = leaf_names(args, kwargs)
        what = f"vmap of {name}"
        mutable_values.check_aliases(
            what, [leaves[i] for i in mutable], [names[i] for i in mutable]
        )


def _check_result(name: str, y: Any, tree: Any) -> None:
    try:
        aval = typeof(y)
    except TypeError as e:
        raise TypeError(
            f"vmap of {name}: it returned a value that is not an array ({tree}){here()}: {e}"
        ) from None
    if aval.is_mutable:
        refuse_mutable_result(aval, f"vmap of {name}: it")
