"""``pmap``: a function over the leading axes of its arguments, a device for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, NamedTuple

from dovetail_backends import device_put, devices as all_devices
from dovetail_base.arguments import integers
from dovetail_base.source import callable_name, here
from dovetail_batching import mapped_arguments, mapped_results, vmap
from dovetail_core import EVAL, get_trace, typeof
from dovetail_jit import jit
from dovetail_lax import expand_dims, squeeze
from dovetail_tree.util import tree_flatten, tree_leaves, tree_unflatten
from dovetail_xla.arrays import ArrayImpl

from .contexts import get_abstract_mesh
from .manual.mapping import shard_map
from .mesh_utils import array_of
from .meshes import Mesh
from .shardy import NamedSharding
from .specs import PartitionSpec


class _Axis:
    """The name of an axis that its user did not name."""

    def __repr__(self) -> str:
        return "<axis of pmap>"


_UNNAMED = _Axis()


class _Mapping(NamedTuple):
    """The arguments of :func:`pmap`."""

    fun: Callable[..., Any]
    axis_name: Any
    in_axes: Any
    out_axes: Any
    static: tuple[int, ...]
    devices: Sequence[Any] | None
    backend: str | None
    axis_size: int | None

    @property
    def name(self) -> str:
        """The function's."""
        return callable_name(self.fun)

    def mesh(self, size: int) -> Mesh:
        """A device for each element.

        Raises:
            ValueError: there are not as many.
        """
        there = list(all_devices(self.backend) if self.devices is None else self.devices)
        if size > len(there):
            count = "is 1 device" if len(there) == 1 else f"are {len(there)} devices"
            raise ValueError(
                f"pmap of {self.name}{here()}: the mapped axis has {size} elements, and there "
                f"{count}. Use vmap, or split the axis."
            )
        return Mesh(array_of(there[:size]), (self.axis_name,))


def pmap(
    fun: Callable[..., Any], axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (), devices: Sequence[Any] | None = None,
    backend: str | None = None, axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Callable[..., Any]:  # fmt: skip
    """``fun`` compiled for one element of the mapped axes on each device of this process.

    It is ``jit(shard_map(fun, check_vma=False))`` over a mesh of as many devices as there are
    elements. Arrays on other devices are moved to these. Within another ``shard_map`` or ``pmap``
    it is ``vmap`` over the parts of a device.

    Args:
        axis_name: of the mapped axis, for collectives.
        in_axes, out_axes: the mapped axes of arguments and results, as for ``vmap``; keyword
            arguments are mapped over their first axes. A result that is not mapped is that of any
            one device.
        static_broadcasted_argnums: positions of arguments that are not arrays; they are hashable.
        devices: the devices to use, the first of them if there are more; by default those of this
            process.
        backend: the platform of the devices.
        axis_size: the length of the mapped axis.
        donate_argnums: positions of arguments whose memory may be used again.

    Raises:
        TypeError: ``fun`` is not callable.
        ValueError: no argument is mapped, lengths differ, or there are not as many devices.
    """
    if not callable(fun):
        raise TypeError(f"pmap takes a function, got {fun!r} of type {type(fun).__name__}{here()}")
    static = tuple(integers("static_broadcasted_argnums of pmap", static_broadcasted_argnums))
    name = _UNNAMED if axis_name is None else axis_name
    mapping = _Mapping(fun, name, in_axes, out_axes, static, devices, backend, axis_size)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return _mapped(mapping, args, kwargs)

    donated = integers("donate_argnums of pmap", donate_argnums)
    compiled: Any = jit(mapped, static_argnums=static, donate_argnums=donated)
    known: set[Any] = set()

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        if get_trace() is EVAL:
            leaves: list[Any] = tree_leaves((args, kwargs))
            committed = [x for x in leaves if x.__class__ is ArrayImpl and x._committed]
            if any(x._sharding not in known for x in committed):
                args, kwargs = _there(mapping, args, kwargs, known)
        return compiled(*args, **kwargs)

    for stage in ("lower", "trace", "eval_shape", "clear_cache"):
        setattr(call, stage, getattr(compiled, stage))
    return call


def _dynamic(mapping: _Mapping, args: tuple[Any, ...]) -> tuple[set[int], tuple[Any, ...], Any]:
    """The positions of static arguments, and the other arguments and their mapped axes."""
    fixed = {i if i >= 0 else i + len(args) for i in mapping.static}
    axes = mapping.in_axes
    if isinstance(axes, (list, tuple)):
        axes = tuple([a for i, a in enumerate(axes) if i not in fixed])  # type: ignore[arg-type]
    return fixed, tuple([a for i, a in enumerate(args) if i not in fixed]), axes


def _mapped(mapping: _Mapping, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    fixed, given, axes = _dynamic(mapping, args)

    def one(*dynamic: Any, **named: Any) -> Any:
        rest = iter(dynamic)
        return mapping.fun(*(a if i in fixed else next(rest) for i, a in enumerate(args)), **named)

    one.__name__ = mapping.name
    if get_abstract_mesh().manual_axes:
        over = vmap(
            one, axes, mapping.out_axes, axis_name=mapping.axis_name, axis_size=mapping.axis_size
        )
        return over(*given, **kwargs)
    return _over_devices(mapping, one, axes, given, kwargs)


def _over_devices(mapping: _Mapping, one: Any, axes: Any, args: Any, kwargs: Any) -> Any:
    leaves, tree, dims, size = mapped_arguments(mapping.name, axes, mapping.axis_size, args, kwargs)
    specs: list[PartitionSpec] = []
    trees: list[Any] = []

    def part(*parts: Any) -> list[Any]:
        own = [x if d is None else squeeze(x, (d,)) for x, d in zip(parts, dims)]
        a, k = tree_unflatten(tree, own)
        out = one(*a, **k)
        result, structure = tree_flatten(out)
        trees[:] = [structure]
        axes = mapped_results(mapping.name, mapping.out_axes, out)
        at = [None if d is None else _result_axis(x, d) for x, d in zip(result, axes)]
        specs[:] = [_spec(mapping.axis_name, d) for d in at]
        return [x if d is None else expand_dims(x, (d,)) for x, d in zip(result, at)]

    part.__name__ = mapping.name
    over = shard_map(
        part, mesh=mapping.mesh(size), out_specs=specs, check_vma=False,
        in_specs=tuple([_spec(mapping.axis_name, d) for d in dims]),
    )  # fmt: skip
    outs = over(*leaves)
    return tree_unflatten(trees[0], outs)


def _result_axis(x: Any, d: int) -> int:
    aval: Any = typeof(x)
    if not -aval.ndim - 1 <= d <= aval.ndim:
        raise ValueError(
            f"pmap{here()}: out_axes is {d} for a result that is {aval.str_short()} on each "
            f"device. Give an axis from {-aval.ndim - 1} to {aval.ndim}, or None."
        )
    return d % (aval.ndim + 1)


def _spec(name: Any, d: int | None) -> PartitionSpec:
    return PartitionSpec() if d is None else PartitionSpec(*[None] * d, name)


def _there(mapping: _Mapping, args: Any, kwargs: Any, known: set[Any]) -> tuple[Any, Any]:
    """The arguments, with arrays that are committed to other devices moved to the mesh."""
    fixed, given, axes = _dynamic(mapping, args)
    leaves, tree, dims, size = mapped_arguments(
        mapping.name, axes, mapping.axis_size, given, kwargs
    )
    mesh = mapping.mesh(size)
    moved: list[Any] = []
    for x, d in zip(leaves, dims):
        if x.__class__ is ArrayImpl and x._committed:
            if x._sharding._internal_device_list == mesh._internal_device_list:
                known.add(x._sharding)
            else:
                x = device_put(x, NamedSharding(mesh, _spec(mapping.axis_name, d)))
        moved.append(x)
    result, named = tree_unflatten(tree, moved)
    rest = iter(result)
    return tuple([a if i in fixed else next(rest) for i, a in enumerate(args)]), named
