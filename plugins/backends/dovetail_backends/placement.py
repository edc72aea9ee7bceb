"""Placement of values: ``device_put``, ``device_get`` and others; constraints of shardings."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base.placements import resolve_placement
from dovetail_base.source import called
from dovetail_core import (
    EVAL,
    Primitive,
    ShapedArray,
    def_impl,
    get_trace,
    registry,
    type_shardings,
    typeof,
)
from dovetail_high.types import low_parts
from dovetail_tree.util import broadcast_prefix, tree_flatten, tree_leaves
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.client import Device as Device
from dovetail_xla.guards import explicit_get, explicit_put
from dovetail_xla.shardings import NamedSharding, Sharding, SingleDeviceSharding

from .array import check_usable, refuse_summands, value_of
from .formats import AutoLayout, Format, Layout, put_in_layout
from .memory import Space, in_space
from .selection import target_device
from .transfer import (
    asarray_in as asarray_in,
    asarray_on as asarray_on,
    host_value,
    move,
    put_host as put_host,
    put_value,
    rows_on_host as rows_on_host,
    sharding_for,
)

__all__ = [
    "asarray_on",
    "block_until_ready",
    "copy_to_host_async",
    "device_get",
    "device_put",
    "device_put_p",
    "live_arrays",
    "put_host",
]


def _shardings(device: Any) -> list[Any]:
    """The shardings of the operation within a program; none for a single device, which is that of
    the program's operands."""
    is_sharding = isinstance(device, Sharding) and device.__class__ is not SingleDeviceSharding
    return [device] if is_sharding else []


device_put_p = Primitive("device_put").def_traits(
    moves=True,
    divides=True,
    places=lambda params: _shardings(params["device"]),
)


@device_put_p.def_abstract_eval
def _device_put_type(x: Any, *, device: Any, **params: Any) -> Any:
    if not (isinstance(device, NamedSharding) and isinstance(x, ShapedArray)):
        return x
    result = x.update(sharding=device)
    if result.divided is not x.divided:
        refuse_summands(device, "put on devices")
        refuse_summands(x.divided, "put on devices")
    return result


@device_put_p.def_decomposition
def _device_put_value(x: Any, **params: Any) -> Any:
    """``x``, which has the same value on every device."""
    return x


@def_impl(device_put_p)
def _device_put_now(x: Any, *, device: Any, donate: bool, may_alias: bool | None, src: Any) -> Any:
    sharding = sharding_for(device)
    if sharding is not None and not sharding.is_fully_addressable:
        _compare(x, sharding)
    if x.__class__ is ArrayImpl:
        if sharding is not None and sharding != x._sharding:
            refuse_summands(sharding, "put on devices")
        return move(x, sharding, donate, may_alias)
    refuse_summands(sharding, "put on devices")
    aval: Any = typeof(x)
    if aval.is_high:
        options: Any = {"device": device, "donate": donate, "may_alias": may_alias, "src": src}
        arrays = low_parts(x, aval, "to put it on a device")
        return aval.raise_val(*[_device_put_now(a, **options) for a in arrays])
    return put_value(x, sharding, may_alias is True)


def _compare(x: Any, sharding: Any) -> None:
    """Raise AssertionError if processes put different values on devices that they share."""
    processes = registry().provider("processes", None)
    local = x.__class__ is not ArrayImpl or x._sharding.is_fully_addressable
    aval: Any = typeof(x)
    if processes is not None and local and not aval.is_high and sharding.has_addressable_devices:
        processes.compare_value("device_put", host_value(x, aval), sharding.device_set)


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """Put every leaf of a pytree on a device.

    Args:
        x: arrays, NumPy values, Python scalars, or containers of them. Host memory is copied.
        device: a device, a sharding, or None for the default device, on which arrays that are not
            on a device yet are put uncommitted; a :class:`Format`, which also has a layout
            (programs copy arrays in other layouts than the default one, and a traced function
            ignores layouts); a :class:`memory.Space` of the devices of ``x`` (which a traced
            function ignores, too); or a pytree of these, a prefix of ``x``.
        src: the source of ``x``, to which its cotangent is transferred; a pytree like ``device``.
        donate: True to donate the memory of ``x``; a bool or a prefix of ``x``.
        may_alias: True if the result may share the memory of ``x``, False for a copy; by default
            arrays on devices are shared and NumPy arrays copied. With True nobody may write to the
            NumPy arrays from then on; the CPU's arrays share their memory.

    Raises:
        TypeError: a leaf is not an array value. ValueError: ``device`` is none of the above, or is
            not a prefix of ``x``. OverflowError: a Python integer is too large for its type.
            RuntimeError: an array was deleted or donated.
    """
    simple = src is None and donate is False and device.__class__ is NamedSharding
    simple = simple and not device.spec.unreduced
    if simple and x.__class__ is np.ndarray and get_trace() is EVAL:
        return explicit_put(_put_array, x, device, may_alias)  # the most frequent case
    leaves, treedef = tree_flatten(x)
    given = {"device": device, "src": src, "donate": donate, "may_alias": may_alias}
    options = [_per_leaf(name, value, x, len(leaves)) for name, value in given.items()]
    return treedef.unflatten(explicit_put(_put_leaves, leaves, options))


def _put_array(x: Any, device: Any, may_alias: Any) -> Any:
    return _device_put_now(x, device=device, donate=False, may_alias=may_alias, src=None)


def _put_leaves(leaves: list[Any], options: list[list[Any]]) -> list[Any]:
    put = _device_put_now if get_trace() is EVAL else device_put_p.bind
    out: list[Any] = []
    for leaf, where, source, gives, alias in zip(leaves, *options, strict=True):
        layout = None
        if where.__class__ is Format:
            where, layout = where.sharding, where.layout
        if where.__class__ is Space:
            where = in_space(leaf, where, lambda: sharding_for(target_device()))
        where = resolve_placement("device of device_put", where)
        _check(where, gives, alias)
        if _is_unreduced(leaf, where):
            out.append(_put_unreduced(leaf, where))
            continue
        result = put(leaf, device=where, src=source, donate=gives, may_alias=alias)
        if layout is not None and put is _device_put_now:
            result = put_in_layout(result, layout)
        out.append(result)
    return out


def _is_unreduced(x: Any, where: Any) -> bool:
    """True if devices hold summands of a value, or are to hold some."""
    spec = getattr(where, "spec", None)
    if spec is not None and spec.unreduced:
        return True
    return bool(type_shardings.unreduced_axes(getattr(x, "aval", None)))


def _put_unreduced(x: Any, where: Any) -> Any:
    """``x`` with the sharding ``where``, by a program that sums over devices, or makes ``x`` the
    only nonzero summand."""
    spec = getattr(where, "spec", None)
    if spec is None or not spec.unreduced:  # pending sums are done first
        divided = None if spec is None else x.aval.update(sharding=where).divided
        return device_put(type_shardings.sharding_provider().with_division(x, divided), where)
    aval: Any = typeof(x)
    wanted = aval.update(sharding=where).divided
    if type_shardings.unreduced_axes(getattr(x, "aval", None)) != spec.unreduced:
        x = device_put(x, where.update(spec=type(spec)()))
    return type_shardings.sharding_provider().with_division(x, wanted)


_LEAVES = (type(None), bool, Device, Sharding, Format, Layout, AutoLayout, Space)


def _per_leaf(name: str, given: Any, x: Any, count: int) -> list[Any]:
    """An option's value for each leaf of ``x``."""
    if isinstance(given, (*_LEAVES, str)):
        return [given] * count
    try:
        return broadcast_prefix(given, x, is_leaf=lambda v: isinstance(v, _LEAVES))
    except ValueError as e:
        raise ValueError(f"device_put: {name} must be a tree prefix of x. {e}") from None


def _check(device: Any, donate: Any, may_alias: Any) -> None:
    if not isinstance(device, (type(None), Device, Sharding)):
        raise ValueError(
            f"device_put cannot put a value on {device!r} of type "
            f"{type(device).__name__}{called()}: give a device (dovetail.devices('cpu')[0]), a "
            "sharding, a Format, None for the default device, or a pytree of these that is a "
            "prefix of x."
        )
    if donate and may_alias:
        raise ValueError(
            "device_put with both donate and may_alias: memory that is given away cannot be "
            "shared. Drop one of them."
        )


def device_get(x: Any) -> Any:
    """Every leaf of a pytree as a NumPy array (read-only); leaves that are no arrays stay.

    Raises:
        RuntimeError: an array was deleted or donated, or its computation failed.
    """
    leaves, treedef = tree_flatten(x)
    return treedef.unflatten(explicit_get(_get_leaves, leaves))


def _get_leaves(leaves: list[Any]) -> list[Any]:
    for leaf in leaves:  # start every transfer before waiting for the first
        if leaf.__class__ is ArrayImpl and leaf.platform() != "cpu":
            leaf.copy_to_host_async()
    return [_to_host(leaf) for leaf in leaves]


def _to_host(leaf: Any) -> Any:
    return value_of(leaf) if leaf.__class__ is ArrayImpl else leaf


def block_until_ready(x: Any) -> Any:
    """Wait until every array in a pytree is computed; returns ``x``.

    Raises:
        RuntimeError: an array was deleted or donated, or its computation failed.
    """
    ready: list[ArrayImpl] = []
    for leaf in tree_leaves(x):
        if leaf.__class__ is ArrayImpl:
            ready.append(leaf)
        elif callable(wait := getattr(type(leaf), "block_until_ready", None)):
            wait(leaf)
    check_usable(ready)
    arrays.block_until_ready(ready)
    return x


def copy_to_host_async(x: Any) -> Any:
    """Start the transfers that ``device_get(x)`` will wait for; returns ``x``.

    The method ``copy_to_host_async`` of each leaf that has one is called; other leaves are passed.
    """
    for leaf in tree_leaves(x):
        if (copy := getattr(leaf, "copy_to_host_async", None)) is not None:
            copy()
    return x


def live_arrays(platform: str | None = None) -> list[Any]:
    """The arrays of a platform (by default of the default one) that were not deleted."""
    from .selection import backend

    client = getattr(backend(platform), "client", None)
    result = [] if client is None else client.live_arrays()
    return [x for x in result if not x.is_deleted()]


sharding_constraint_p = Primitive("sharding_constraint").def_traits(
    linear=((0,),),
    moves=True,
    parameters={"sharding": "the sharding of the value"},
    places=lambda params: [params["sharding"]],
)


@sharding_constraint_p.def_abstract_eval
def _type(x: Any, *, sharding: Any) -> Any:
    return x


@sharding_constraint_p.def_decomposition
def _value(x: Any, *, sharding: Any) -> Any:
    """``x``, which has the same value on every device."""
    return x


@def_impl(sharding_constraint_p)
def _now(x: Any, *, sharding: Any) -> Any:
    settle = getattr(sharding, "_settled", None)  # outside of programs no dimension is free
    sharding = sharding_for(sharding if settle is None else settle(x))
    return move(x, sharding) if x.__class__ is ArrayImpl else put_value(x, sharding)
