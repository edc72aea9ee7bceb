"""The shardings that ``jit`` was given: trees of them, for arguments and for results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from dovetail_backends import Format, Layout, sharding_constraint_p
from dovetail_base.placements import is_placement, resolve_placement
from dovetail_base.source import short_repr
from dovetail_core import ShapedArray, here, type_shardings, typeof
from dovetail_tree.util import broadcast_prefix, tree_flatten, tree_unflatten
from dovetail_xla.client import Device
from dovetail_xla.shardings import SingleDeviceSharding, single_device_sharding

from .call.placement import Wanted


@final
class Unspecified:
    """The value for no sharding: arguments stay on their devices, and XLA chooses for results."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UnspecifiedValue"

    def __reduce__(self) -> str:
        return "UNSPECIFIED"


UNSPECIFIED = Unspecified()


def _is_leaf(x: Any) -> bool:
    known = x is None or x is UNSPECIFIED or isinstance(x, Format) or is_placement(x)
    return known or _is_spec(x)


def _is_spec(x: Any) -> bool:
    """Tell whether it is the sharding of a value of a high type."""
    return hasattr(x, "to_lo") and hasattr(x, "device_set")


def _placement(given: Any) -> Any:
    """A leaf that was given, as a device or a sharding.

    Raises:
        NotImplementedError: the parts of a value of a high type are to be on several devices.
    """
    if isinstance(given, Format):
        return given.sharding
    if not _is_spec(given):
        return given
    if len(devices := given.device_set) > 1:
        raise NotImplementedError(
            f"jit: the sharding {short_repr(given)} of a value of a high type{here()} names "
            f"{len(devices)} devices: arrays that it is made of are on one."
        )
    return next(iter(devices))


class Shardings:
    """The shardings that ``jit`` was given; see its documentation.

    Raises:
        TypeError: a leaf is not a sharding, nor a device, a spec or a format.
    """

    def __init__(self, name: str, ins: Any, outs: Any) -> None:
        self.name, self.ins, self.outs = name, ins, outs
        leaves, tree = tree_flatten((ins, outs), is_leaf=_is_leaf)
        for x in leaves:
            if not _is_leaf(x):
                if isinstance(x, Layout):
                    raise ValueError(
                        f"jit: in_shardings and out_shardings have the layout {x!r}{here()}, which "
                        "does not say where. Give Format(layout, sharding)."
                    )
                raise TypeError(
                    f"jit: in_shardings and out_shardings are made of shardings, got "
                    f"{short_repr(x)} of type {type(x).__name__}{here()}. Give for example "
                    "NamedSharding(mesh, P('x'))."
                )
        self.key = tree, tuple(leaves)

    @property
    def one_device(self) -> Device | None:
        """The device, where nothing but devices and shardings of one are given, all of one."""
        given = [x for x in self.key[1] if x is not None and x is not UNSPECIFIED]
        devices: set[Any] = set()
        for x in map(_placement, given):
            if not isinstance(x, (Device, SingleDeviceSharding)):
                return None
            devices.add(x if isinstance(x, Device) else x._device)
        return devices.pop() if len(devices) == 1 else None

    @property
    def are_given(self) -> bool:
        """Tell whether there is any."""
        return any(x is not None and x is not UNSPECIFIED for x in self.key[1])

    @property
    def have_layouts(self) -> bool:
        """Tell whether there is any that says how values lie in memory."""
        return any(isinstance(x, Format) and x.layout is not None for x in self.key[1])

    def check(self, in_tree: Any, out_tree: Any) -> None:
        """Compare the structures with those of arguments and results.

        Raises:
            ValueError: the structures differ; there are arguments by keyword.
        """
        self._given_inputs(in_tree)
        self._given_results(out_tree)

    def inputs(self, in_tree: Any) -> list[Any]:
        """The sharding, or None, of each leaf of arguments ``(args, kwargs)``.

        Raises:
            ValueError: the structures differ; there are arguments by keyword.
        """
        return [self._sharding("in_shardings", x) for x in self._given_inputs(in_tree)]

    def results(self, out_tree: Any) -> list[Any]:
        """The sharding, or None, of each leaf of the result.

        Raises:
            ValueError: the structures differ.
        """
        return [self._sharding("out_shardings", x) for x in self._given_results(out_tree)]

    def _given_inputs(self, in_tree: Any) -> list[Any]:
        """The value given for each leaf of arguments.

        Raises:
            ValueError: the structures differ; there are arguments by keyword.
        """
        args, kwargs = tree_unflatten(in_tree, range(in_tree.num_leaves))
        if self.ins is None or self.ins is UNSPECIFIED:
            return [None] * in_tree.num_leaves
        if kwargs:
            raise ValueError(
                f"jit of {self.name}{here()}: with in_shardings arguments are given by position, "
                f"and {sorted(kwargs)} are given by name."
            )
        return self._leaves("in_shardings", "the tuple of arguments", self.ins, args)

    def _given_results(self, out_tree: Any) -> list[Any]:
        """The value given for each leaf of the result.

        Raises:
            ValueError: the structures differ.
        """
        full = tree_unflatten(out_tree, range(out_tree.num_leaves))
        return self._leaves("out_shardings", "the result", self.outs, full)

    def _leaves(self, argument: str, of: str, given: Any, full: Any) -> list[Any]:
        if isinstance(given, list) and isinstance(full, tuple):
            given = tuple(given)  # pyright: ignore[reportUnknownVariableType]
        try:
            return broadcast_prefix(given, full, is_leaf=_is_leaf)
        except ValueError as e:
            raise ValueError(
                f"jit of {self.name}{here()}: {argument} must be a tree prefix of {of}. {e}"
            ) from None

    def _sharding(self, argument: str, given: Any) -> Any:
        given = _placement(given)
        if given is None or given is UNSPECIFIED:
            return None
        resolved = resolve_placement(f"{argument} of jit of {self.name}", given)
        return single_device_sharding(resolved) if isinstance(resolved, Device) else resolved

    def wanted(self, consts: int, in_tree: Any, out_tree: Any) -> Wanted:
        """The shardings of a program's inputs, ``consts`` of which come first, and results."""
        ins = (*[None] * consts, *self.inputs(in_tree))
        return Wanted(ins, tuple(self.results(out_tree)))

    def layouts(self, consts: int, in_tree: Any, out_tree: Any) -> Wanted:
        """The requested layouts, as :meth:`wanted` gives shardings."""
        ins = (*[None] * consts, *map(_layout, self._given_inputs(in_tree)))
        return Wanted(ins, tuple(map(_layout, self._given_results(out_tree))))


def _layout(given: Any) -> Any:
    return given.layout if isinstance(given, Format) else None


def constrained(values: Sequence[Any], shardings: Sequence[Any]) -> list[Any]:
    """Traced values, constrained to shardings."""
    return [x if s is None else _constrained(x, s) for x, s in zip(values, shardings)]


def _constrained(x: Any, sharding: Any) -> Any:
    aval: Any = typeof(x)
    if not isinstance(aval, ShapedArray):
        return sharding_constraint_p.bind(x, sharding=sharding)
    wanted = aval.update(sharding=sharding)
    if not type_shardings.unreduced_axes(aval) and not type_shardings.unreduced_axes(wanted):
        x = sharding_constraint_p.bind(x, sharding=sharding)
    return type_shardings.like_type(x, wanted, aval)
