"""Functions in which axes have other types: ``auto_axes`` and ``explicit_axes``."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import Any

from dovetail_backends import device_put
from dovetail_base.arguments import placement
from dovetail_base.placements import resolve_placement
from dovetail_base.source import callable_name
from dovetail_base.wrapping import wraps
from dovetail_core import EVAL, ShardingTypeError, get_trace, here, is_value, typeof
from dovetail_tree.util import broadcast_prefix, tree_flatten, tree_map, tree_unflatten

from ..axis_types import AxisType
from ..contexts import get_abstract_mesh, use_abstract_mesh
from ..shardy import NamedSharding
from ..specs import PartitionSpec
from .resharding import forget, mesh_of, reshard_to
from .unreduced import leaving

_UNSET: Any = object()


def auto_axes(
    f: Callable[..., Any] = _UNSET, /, *, axes: Any = None, out_sharding: Any = None
) -> Any:
    """``f`` with axes of type ``Explicit`` as axes of type ``Auto``.

    Types in ``f`` have no sharding along these axes, so that no operation is ambiguous; the
    compiler chooses. Results have the sharding ``out_sharding``.

    Args:
        f: a function of pytrees of arrays. Without it, a decorator.
        axes: the name of an axis, or names of some; by default all.
        out_sharding: a PartitionSpec, a sharding, or a pytree of these, a prefix of the result. It
            can also be given to each call.

    Raises:
        TypeError (of a call): there is no ``out_sharding``.
        ValueError (of a call): there is no mesh, or an axis is not of type ``Explicit``.
    """
    if f is _UNSET:
        return partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @wraps(f)
    def automatic(*args: Any, **kwargs: Any) -> Any:
        name = f"auto_axes of {callable_name(f)}"
        wanted = _required(name, "out_sharding", "results", out_sharding, kwargs)
        leaves, tree = tree_flatten((args, kwargs))
        mesh = _mesh(name, leaves)
        own = _axes(name, mesh, axes, AxisType.Explicit)
        a, k = tree_unflatten(tree, [_forgotten(x, own) for x in leaves])
        return _results(name, _within(mesh, own, AxisType.Auto, f, a, k), wanted, mesh, own)

    return automatic


def explicit_axes(
    f: Callable[..., Any] = _UNSET, /, *, axes: Any = None, in_sharding: Any = None
) -> Any:
    """``f`` with axes of type ``Auto`` as axes of type ``Explicit``, along which types have
    shardings.

    Args:
        f: a function of pytrees of arrays. Without it, a decorator.
        axes: the name of an axis, or names of some; by default all.
        in_sharding: the shardings of arguments: a PartitionSpec, a sharding, or a pytree of these,
            a prefix of the tuple of arguments. It can also be given to each call.

    Raises:
        TypeError (of a call): there is no ``in_sharding``.
        ValueError (of a call): there is no mesh.
    """
    if f is _UNSET:
        return partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @wraps(f)
    def explicit(*args: Any, **kwargs: Any) -> Any:
        name = f"explicit_axes of {callable_name(f)}"
        wanted = _required(name, "in_sharding", "arguments", in_sharding, kwargs)
        leaves, tree = tree_flatten(args)
        mesh = _mesh(name, leaves)
        own = _axes(name, mesh, axes, None)
        within = mesh.update_axis_types(dict.fromkeys(own, AxisType.Explicit))
        with use_abstract_mesh(within):
            shardings = _prefix(name, "in_sharding", wanted, args, within)
        inner = [reshard_to(x, s, own) for x, s in zip(leaves, shardings)]
        out = _within(mesh, own, AxisType.Explicit, f, tree_unflatten(tree, inner), kwargs)
        return tree_map(lambda x: _forgotten(x, own), out)

    return explicit


def _required(name: str, option: str, whose: str, given: Any, kwargs: dict[str, Any]) -> Any:
    """An option of the decorator, or else of the call, from whose arguments it is removed.

    Raises:
        TypeError: neither has it.
    """
    wanted = given if given is not None else kwargs.pop(option, None)
    if wanted is None:
        raise TypeError(
            f"{name}{here()}: {option} is not given. Say how the {whose} are divided: "
            f"{option}=P(...), to {name.partition(' ')[0]} or to the call."
        )
    return wanted


def with_result(
    sharding: Any, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)`` with results of this sharding (see ``divided_result``)."""
    values = [x for x in tree_flatten(args)[0] if is_value(x)]
    sharding = _sharding_of("out_sharding", sharding, values)
    mesh: Any = getattr(sharding, "mesh", None)
    if mesh is not None and mesh.empty:
        return f(*args, **kwargs)
    explicit = () if mesh is None else mesh.explicit_axes
    if mesh is None or not explicit:
        return tree_map(partial(_moved, sharding=sharding), f(*args, **kwargs))
    left = sharding.spec.unreduced
    if left:
        return _left_unreduced(sharding, f, args, kwargs)
    if any(_is_reduced(x) for x in tree_flatten((tuple(args), kwargs))[0]):
        with suppress(ShardingTypeError):  # its cotangent is unreduced, by the types within
            return tree_map(lambda x: reshard_to(x, sharding), f(*args, **kwargs))
    a, k = tree_map(lambda x: _forgotten(x, explicit), (tuple(args), kwargs))
    out = _within(mesh.abstract_mesh, explicit, AxisType.Auto, f, a, k)
    return tree_map(lambda x: reshard_to(x, sharding, explicit), out)


def _is_reduced(x: Any) -> bool:
    sharding = typeof(x).divided if is_value(x) else None
    return sharding is not None and bool(sharding.spec.reduced)


def _left_unreduced(
    sharding: NamedSharding, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """A contraction whose sum over devices is left unreduced.

    Raises:
        ShardingTypeError: contracted dimensions of operands are not divided along these axes.
    """
    left = sharding.spec.unreduced
    try:
        out, because = leaving(left, f, args, kwargs), None
    except ShardingTypeError as e:
        out, because = None, e
    is_made = not any(hasattr(x, "aval") for x in tree_flatten((tuple(args), kwargs))[0])
    if because is not None or not (is_made or _are_sums(out, left)):
        raise ShardingTypeError(
            f"{callable_name(f)}{here()}: out_sharding is {sharding.spec}, and the operands are "
            f"not both divided along {sorted(map(str, left))} where they are contracted, so that "
            "there is no sum over these to be left unreduced."
        ) from because
    # A value that is not a sum becomes the only summand that is not zero.
    return tree_map(lambda x: reshard_to(x, sharding), out)


def _are_sums(out: Any, axes: Set[Any]) -> bool:
    shardings = [typeof(x).divided for x in tree_flatten(out)[0]]
    return all(d is not None and d.spec.unreduced == axes for d in shardings)


def _moved(x: Any, sharding: Any) -> Any:
    from ..constraints import with_sharding_constraint

    return device_put(x, sharding) if get_trace() is EVAL else with_sharding_constraint(x, sharding)


def _sharding_of(argument: str, given: Any, values: Sequence[Any]) -> Any:
    """The sharding of an argument; a spec refers to the mesh that is set, or to that of values."""
    if isinstance(given, PartitionSpec) and get_abstract_mesh().empty:
        mesh = mesh_of(values)
        if not mesh.empty or not (given.unreduced or any(p is not None for p in given)):
            return NamedSharding(mesh, given)
    return placement(argument, given)


def _forgotten(x: Any, axes: Sequence[Any]) -> Any:
    return forget(x, axes) if is_value(x) else x


def _within(
    mesh: Any, axes: Sequence[Any], kind: AxisType, f: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """``f(*args, **kwargs)`` with these axes of the mesh as axes of a type."""
    with use_abstract_mesh(mesh.update_axis_types(dict.fromkeys(axes, kind))):
        return f(*args, **kwargs)


def _mesh(name: str, leaves: Sequence[Any]) -> Any:
    mesh = mesh_of([x for x in leaves if is_value(x)])
    if mesh.empty:
        raise ValueError(
            f"{name}{here()}: no mesh is set, and no argument is on one. Set one: with "
            "dovetail.set_mesh(mesh)."
        )
    return mesh


def _axes(name: str, mesh: Any, given: Any, kind: AxisType | None) -> tuple[Any, ...]:
    """The axes that are named, or by default those of the other type."""
    if given is None:
        return mesh.explicit_axes if kind is not None else mesh.auto_axes
    names = tuple(given) if isinstance(given, (tuple, list, set, frozenset)) else (given,)
    for a in names:
        if a not in mesh.axis_names:
            raise ValueError(
                f"{name}{here()}: axes names {a!r}, and the mesh has the axes {mesh.axis_names}."
            )
    return names


def _prefix(name: str, argument: str, given: Any, full: Any, mesh: Any) -> list[Any]:
    """The sharding of each leaf."""
    kinds = (NamedSharding, PartitionSpec)
    try:
        result = broadcast_prefix(given, full, is_leaf=lambda v: isinstance(v, kinds))
    except ValueError as e:
        raise ValueError(f"{name}{here()}: {argument} must be a tree prefix. {e}") from None
    return [
        NamedSharding(mesh, s)
        if isinstance(s, PartitionSpec)
        else resolve_placement(f"{argument} of {name}", s)
        for s in result
    ]


def _results(name: str, out: Any, wanted: Any, mesh: Any, auto: Any) -> Any:
    leaves, tree = tree_flatten(out)
    shardings = _prefix(name, "out_sharding", wanted, out, mesh)
    return tree_unflatten(tree, [reshard_to(x, s, auto) for x, s in zip(leaves, shardings)])
