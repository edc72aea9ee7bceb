"""The target of a call: one device, or several among which its program is divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_backends import AbsentDevices, Partition, target_device
from dovetail_base.placements import surroundings
from dovetail_core import (
    ClosedJaxpr,
    Tracer,
    here,
    low_types,
    lower_values,
    programs,
    type_shardings,
    typeof,
)
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.client import Device
from dovetail_xla.shardings import SingleDeviceSharding, single_device_sharding

from ..structs import ShapeDtypeStruct


class Committed(NamedTuple):
    """An array that an argument is, or is made of, and that is bound to where it is.

    Attributes:
        leaf: the argument's position. part: the array's, among those that the argument is made of.
        where: a device; its sharding where that is of a mesh, or of several devices.
    """

    leaf: int
    part: int
    where: Any


class Wanted(NamedTuple):
    """Requested shardings, one for each leaf; None if any will do.

    Attributes:
        ins: of operands. outs: of results.
    """

    ins: tuple[Any, ...] = ()
    outs: tuple[Any, ...] = ()


def placement(
    operands: Sequence[Any], name: str, program: ClosedJaxpr, consts: int = 0
) -> tuple[Any, bool]:
    """The target of a call of ``program``, and whether its results are bound to it.

    That is a device, or a :class:`Partition`.

    Args:
        consts: how many of the operands, the first ones, the function closes over: the device of
            such a one does not count, a mesh does.

    Raises:
        ValueError: two arguments are committed to different devices; names both.
    """
    return common_target(committed_to(operands, consts), name, program, None, consts)


def committed_to(operands: Sequence[Any], consts: int = 0) -> list[Committed]:
    """The arrays among a call's operands that are committed (see :func:`placement`)."""
    result: list[Committed] = []
    for i, x in enumerate(operands):
        if x.__class__ is ArrayImpl:
            if x._committed:  # type: ignore[union-attr]
                result.append(Committed(i, 0, _where(x._sharding)))  # type: ignore[union-attr]
        elif isinstance(x, ShapeDtypeStruct):
            # The sharding of a type is of a mesh without devices, which other arguments give.
            is_typed = is_absent(x.sharding) and typeof(x).divided is not None
            if x.sharding is not None and not is_typed:
                result.append(Committed(i, 0, _where(x.sharding)))
        elif not isinstance(x, Tracer) and typeof(x).is_high:
            arrays = committed_to(lower_values((x,), "needed for its placement"))
            result += [Committed(i, low.leaf, low.where) for low in arrays]
    if consts:
        return [c for c in result if c.leaf >= consts or not isinstance(c.where, Device)]
    return result


def _where(sharding: Any) -> Any:
    if sharding.__class__ is SingleDeviceSharding:
        return sharding._device
    if isinstance(sharding, Device):
        return sharding
    if is_absent(sharding):
        return sharding
    devices = sharding._internal_device_list
    if len(devices) == 1 and not hasattr(sharding, "_grid"):
        return next(iter(devices))
    return sharding


def is_absent(sharding: Any) -> bool:
    """Tell whether a sharding is one of a mesh without devices."""
    return not getattr(sharding, "_is_concrete", True)


def _devices_of(sharding: Any) -> Any:
    if is_absent(sharding):
        return AbsentDevices(sharding.num_devices)
    return sharding._internal_device_list


def common_target(
    committed: Sequence[Committed],
    name: str,
    program: ClosedJaxpr,
    wanted: Wanted | None = None,
    consts: int = 0,
) -> tuple[Any, bool]:
    """As :func:`placement`, by committed arguments and requested shardings."""
    inner = shardings_in(program)
    if wanted is None and not inner:
        around = None if committed else surroundings()
        if around is None and all(isinstance(c.where, Device) for c in committed):
            return _one_device(committed, name, consts)
    wanted = wanted or Wanted()
    near = _without_strangers(committed, wanted, consts) if consts else committed
    return _several(_Call(name, program, near, wanted, inner, consts))


def _without_strangers(
    committed: Sequence[Committed], wanted: Wanted, consts: int
) -> Sequence[Committed]:
    """Without arrays that the function closes over and that are on other devices than those that
    arguments are bound to: they are moved there, as those are that are on one device."""
    given = [c.where for c in committed if c.leaf >= consts]
    given += [s for s in (*wanted.ins, *wanted.outs) if s is not None]
    if not given:
        return committed
    devices = _ids_of(given[0])
    return [c for c in committed if c.leaf >= consts or _ids_of(c.where) == devices]


def _ids_of(where: Any) -> Any:
    if isinstance(where, Device):
        return [where.id]
    return None if is_absent(where) else [d.id for d in where._internal_device_list]


def _one_device(committed: Sequence[Committed], name: str, consts: int) -> tuple[Any, bool]:
    if not committed:
        return target_device(), False
    first, _, chosen = committed[0]
    for i, _, device in committed:
        if device is not chosen:
            raise ValueError(
                f"{name} received arrays on different devices: leaf {first - consts} of its "
                f"arguments is on {chosen}, leaf {i - consts} on {device}. Move them to one device "
                "with device_put."
            )
    return chosen, True


def shardings_in(program: ClosedJaxpr) -> tuple[Any, ...]:
    """The shardings that operations of a program name: they are on these devices."""
    return program.memo("shardings", lambda: _shardings_in(program))


def _shardings_in(program: ClosedJaxpr) -> tuple[Any, ...]:
    result: dict[Any, None] = {}
    for p in programs.walk_programs(program):
        for eqn in programs.open_program(p).eqns:
            if (named := eqn.primitive.traits.places) is not None:
                result.update(dict.fromkeys(named(eqn.params)))
    return tuple([s for s in result if not is_absent(s)])


def check_inner(name: str, device: Device, program: ClosedJaxpr) -> None:
    """Raise ValueError where operations of a program are to be on others than the device that
    ``jit`` was given; names both."""
    if inner := shardings_in(program):
        given = "the device that jit was given", single_device_sharding(device)
        _same_devices(name, [given, *_inner(inner)])


def _inner(shardings: Sequence[Any]) -> list[tuple[str, Any]]:
    """Names in errors of shardings that operations name."""
    kinds = ["device" if s.__class__ is SingleDeviceSharding else "sharding" for s in shardings]
    return [(f"a {kind} in the function", s) for kind, s in zip(kinds, shardings)]


class _Call(NamedTuple):
    """All that decides where a call runs."""

    name: str
    program: ClosedJaxpr
    committed: Sequence[Committed]
    wanted: Wanted
    inner: tuple[Any, ...]
    consts: int

    def leaf(self, i: int) -> str:
        """The name of an operand in errors."""
        own = i - self.consts
        return f"leaf {own} of its arguments" if own >= 0 else "an array that it closes over"


def _several(call: _Call) -> tuple[Any, bool]:
    named = _named(call)
    if not named:
        return _one_device(call.committed, call.name, call.consts)
    devices = _same_devices(call.name, named)
    grids = [s._grid for _, s in named if hasattr(s, "_grid")]
    grid = next((g for g in grids if g.has_explicit_axes), grids[0] if grids else None)
    if grid is None:
        if len(devices) == 1:
            return next(iter(devices)), True
        raise NotImplementedError(
            f"{call.name}{here()} on {len(devices)} devices, with {named[0][1]!r} and no mesh: "
            "give one argument a NamedSharding."
        )
    ins, outs = _shardings_of_inputs(call, grid), _shardings_of_results(call, grid)
    return Partition(devices, grid, ins, outs, _alike(call.program.out_avals)), True


def _alike(avals: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """Groups of results that are the arrays which one array of an extended type is made of."""
    result: list[tuple[int, ...]] = []
    at = 0
    for aval in avals:
        lows = _low(aval)
        if len(lows) > 1 and all(low.shape == getattr(aval, "shape", None) for low in lows):
            result.append(tuple(range(at, at + len(lows))))
        at += len(lows)
    return tuple(result)


def _named(call: _Call) -> list[tuple[str, Any]]:
    """The things that name devices, in the order in which it counts, and the sharding that it
    names."""
    result = [(call.leaf(c.leaf), c.where) for c in call.committed]
    result += [(f"in_shardings of {call.leaf(i)}", s) for i, s in enumerate(call.wanted.ins)]
    result += [(f"out_shardings of result {i}", s) for i, s in enumerate(call.wanted.outs)]
    result += _inner(call.inner)
    if not any(s is not None for _, s in result) or not call.committed:
        result.append(("the mesh that is set", surroundings()))
    return [
        (what, single_device_sharding(s) if isinstance(s, Device) else s)
        for what, s in result
        if s is not None
    ]


def _same_devices(name: str, named: Sequence[tuple[str, Any]]) -> Any:
    """The devices that all shardings have; those of an abstract mesh are whichever there are.

    Raises:
        ValueError: they are different ones; names two of them and their devices.
    """
    there = [(what, s) for what, s in named if not is_absent(s)]
    (first, sharding), *rest = [*there, *[x for x in named if x not in there]]
    devices = _devices_of(sharding)
    for what, other in rest:
        theirs = _devices_of(other)
        if len(theirs) != len(devices) or (theirs != devices and not is_absent(other)):
            raise ValueError(
                f"{name} received incompatible devices{here()}: {first} is on the devices "
                f"{_ids(devices)}, {what} on {_ids(theirs)}. Put all on the devices of one mesh, "
                "in one order, with device_put."
            )
    return devices


def _ids(devices: Any) -> str:
    if devices.__class__ is AbsentDevices:
        return f"0 to {len(devices) - 1} of an abstract mesh"
    return f"{[d.id for d in devices]}"


def _shardings_of_inputs(call: _Call, grid: Any) -> tuple[Any, ...]:
    """One for each array of the program's inputs.

    Raises:
        ValueError: an argument is committed to another sharding than is requested, or does not
            divide so; names it.
    """
    avals: Sequence[Any] = call.program.in_avals
    given = {(c.leaf, c.part): c.where for c in call.committed}
    result: list[Any] = []
    for i, aval in enumerate(avals):
        requested = call.wanted.ins[i] if call.wanted.ins else None
        if requested is not None:
            _check(call.name, f"in_shardings of {call.leaf(i)}", requested, aval)
        for part, low in enumerate(_low(aval)):
            now: Any = given.get((i, part))
            if isinstance(now, Device):
                now = single_device_sharding(now)
            if None not in (requested, now) and not now.is_equivalent_to(requested, low.ndim):
                raise ValueError(
                    f"{call.name}{here()}: {call.leaf(i)}, of type {low.str_short()}, "
                    f"has the sharding {now!r}, and in_shardings says {requested!r}. Move it there "
                    "with device_put, or leave in_shardings out."
                )
            where = requested if requested is not None else now
            if where is None and low.divided is not None:
                where = grid.of_type(low)
            result.append(_expressible(where, low, grid))
    return tuple(result)


def _shardings_of_results(call: _Call, grid: Any) -> tuple[Any, ...]:
    result: list[Any] = []
    for i, aval in enumerate(call.program.out_avals):
        requested = call.wanted.outs[i] if call.wanted.outs else None
        if requested is not None:
            _check(call.name, f"out_shardings of result {i}", requested, aval)
        for low in _low(aval):
            _check_summed(call.name, i, requested, low)
            is_typed = requested is None and grid.has_explicit_axes
            wanted = grid.of_type(low) if is_typed else requested
            chosen = _expressible(wanted, low, grid)
            if chosen is None and requested is not None:
                raise NotImplementedError(
                    f"{call.name}{here()}: out_shardings of result {i} is {requested!r}, which the "
                    f"axes of the mesh of the other shardings cannot say: {grid.mesh}. Use one "
                    "mesh for all."
                )
            result.append(chosen)
    return tuple(result)


def _check_summed(name: str, i: int, requested: Any, aval: Any) -> None:
    """Raise ValueError where a result is to be a sum that is left to be done, and is none: XLA
    would take what each device has as its summand."""
    left = getattr(getattr(requested, "spec", None), "unreduced", None)
    if left and left != type_shardings.unreduced_axes(aval):
        raise ValueError(
            f"{name}{here()}: out_shardings of result {i} is {requested!r}, and the result is "
            f"of type {aval.str_short()}, which is no sum along {sorted(map(str, left))}. Reshard "
            "it in the function: dovetail.sharding.reshard(x, spec)."
        )


def _low(aval: Any) -> list[Any]:
    """The types of the arrays that a value is made of."""
    return list(low_types((aval,)))


def _expressible(sharding: Any, low: Any, grid: Any) -> Any:
    """A sharding that programs of this grid can have, else None: XLA chooses another."""
    if sharding is None or grid.spelled(sharding, low.ndim) is None:
        return None
    return sharding


def _check(name: str, what: str, sharding: Any, aval: Any) -> None:
    shape = getattr(aval, "shape", None)
    if shape is None:
        return
    try:
        sharding.shard_shape(shape)
    except ValueError as e:
        raise ValueError(f"{name}, {what}: {e}") from None
