"""Constraints of shardings within programs: ``with_sharding_constraint`` and ``shard_alike``."""

from __future__ import annotations

from typing import Any, TypeVar

from dovetail_backends import Format, device_put, sharding_constraint_p
from dovetail_base.placements import is_placement, resolve_placement
from dovetail_base.source import here, short_repr
from dovetail_core import EVAL, Primitive, ShapedArray, get_trace, typeof
from dovetail_tree.util import broadcast_prefix, tree_flatten
from dovetail_xla.client import Device
from dovetail_xla.shardings import NamedSharding, Sharding

from .contexts import devices_of_set_mesh, get_abstract_mesh
from .specs import axes_of


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """``x``, a pytree of arrays, with the given shardings.

    In a traced function the compiler moves values with other shardings. It chooses how dimensions
    that are ``P.UNCONSTRAINED`` are divided, and pads dimensions that the number of shards does not
    divide; on one device nothing happens. Derivatives and ``vmap`` keep the constraint: a cotangent
    has the sharding of its primal, and the compiler chooses that of the mapped dimension. Outside
    of traced functions arrays are moved at once.

    Args:
        shardings: a sharding (one of an abstract mesh becomes one on the devices of the mesh that
            is set), a PartitionSpec of the mesh that is set, a Format (whose layout is ignored in
            traced functions), or a pytree of these, a prefix of ``x``.

    Raises:
        ValueError: there is none for a leaf; a spec has more dimensions than an array, is of no
            mesh, or names an axis that ``shard_map`` maps over around the call; outside of traced
            functions, the shards do not divide an array, or it is bound to other devices.
        TypeError: something else is given.
    """
    leaves, treedef = tree_flatten(x)
    try:
        given = broadcast_prefix(shardings, x, is_leaf=_is_leaf)
    except ValueError as e:
        text = f"with_sharding_constraint{here()}: shardings must be a tree prefix of x. {e}"
        raise ValueError(text) from None
    return treedef.unflatten([_constrained(a, s) for a, s in zip(leaves, given, strict=True)])


def _is_leaf(x: Any) -> bool:
    return x is None or isinstance(x, Format) or is_placement(x)


def _constrained(x: Any, given: Any) -> Any:
    name = "with_sharding_constraint"
    layout = given.layout if isinstance(given, Format) else None
    sharding = given.sharding if isinstance(given, Format) else given
    if sharding is None:
        raise ValueError(
            f"{name}{here()}: there is no sharding for a leaf of type {typeof(x).str_short()}, but "
            "None. Give NamedSharding(mesh, P()) for copies on all devices, or leave the call out."
        )
    sharding = resolve_placement(f"shardings of {name}", sharding)
    if isinstance(sharding, Device) or not isinstance(sharding, Sharding):
        raise TypeError(
            f"{name}{here()} takes shardings, got {short_repr(given)} of type "
            f"{type(given).__name__}. Give NamedSharding(mesh, P('x')), or P('x') with a mesh set."
        )
    sharding = devices_of_set_mesh(sharding) or sharding
    aval: Any = typeof(x)
    _check_rank(aval, sharding)
    _check_not_manual(sharding)
    _check_asserted(aval, sharding)
    if get_trace() is EVAL:
        _check_devices(x, sharding)
        settle = getattr(sharding, "_settled", None)
        sharding = sharding if settle is None else settle(x)
        return device_put(x, sharding if layout is None else Format(layout, sharding))
    return sharding_constraint_p.bind(x, sharding=sharding)


def _check_devices(x: Any, sharding: Any) -> None:
    """Raise ValueError for a committed array on other devices than those of the constraint."""
    if not getattr(x, "_committed", False):
        return
    own, wanted = x.sharding.device_set, sharding.device_set
    if own != wanted:
        raise ValueError(
            f"with_sharding_constraint{here()}: the array is bound to the devices {_named(own)}, "
            f"and {sharding!r} is on {_named(wanted)}. Move it with device_put."
        )


def _named(devices: Any) -> str:
    return str(sorted(d.id for d in devices))


def _check_not_manual(sharding: Any) -> None:
    """Raise ValueError for axes over which ``shard_map`` maps: values are parts along these."""
    manual = get_abstract_mesh().manual_axes
    if not manual or not isinstance(sharding, NamedSharding):
        return
    spec: Any = sharding.spec
    if again := {a for p in spec.partitions for a in axes_of(p)} & set(manual):
        raise ValueError(
            f"with_sharding_constraint{here()}: {spec} names {', '.join(sorted(map(repr, again)))}"
            ", over which the function around is mapped by shard_map: it sees one part along it. "
            "Name other axes."
        )


def _check_asserted(aval: Any, sharding: Any) -> None:
    """Raise AssertionError if the sharding of a value's type differs from the constraint, on a mesh
    all of whose axes are explicit."""
    mesh = getattr(sharding, "mesh", None)
    if mesh is None or not mesh.are_all_axes_explicit or not isinstance(aval, ShapedArray):
        return
    wanted = aval.update(sharding=sharding)
    if wanted.divided is not aval.divided:
        raise AssertionError(
            f"with_sharding_constraint{here()}: the value is of type {aval.str_short()}, and "
            f"{sharding.spec} says {wanted.str_short()}. Where all axes of the mesh are of type "
            "Explicit, it asserts how a value is divided: use dovetail.sharding.reshard to divide "
            "it in another way."
        )


def _check_rank(aval: Any, sharding: Any) -> None:
    check, shape = getattr(sharding, "check_compatible_aval", None), getattr(aval, "shape", None)
    if check is None or shape is None:
        return
    try:
        check(shape)
    except ValueError as e:
        raise ValueError(f"with_sharding_constraint: {e}") from None


T = TypeVar("T")
U = TypeVar("U")

shard_alike_p = Primitive("shard_alike", multiple_results=True).def_traits(
    linear=(slice(None),), moves=True
)


@shard_alike_p.def_abstract_eval
def _type(*avals: Any) -> list[Any]:
    return list(avals)


def shard_alike(x: T, y: U) -> tuple[T, U]:
    """``x`` and ``y``, pytrees of one structure and with arrays of equal shapes, with equal
    shardings: in a program the sharding that XLA infers for the one is that of the other, too.

    Tangents and cotangents have equal shardings, too.

    Raises:
        ValueError: the structures, or the shapes of two leaves, differ.

    Example:
        ``shard_alike(x, jnp.arange(8.0))[1]`` has the sharding of ``x``.
    """
    (xs, tree), (ys, other) = tree_flatten(x), tree_flatten(y)
    if tree != other:
        raise ValueError(f"shard_alike{here()}: x has the structure {tree}, and y has {other}.")
    for i, pair in enumerate(zip(xs, ys)):
        shapes: Any = [getattr(typeof(a), "shape", ()) for a in pair]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"shard_alike{here()}: leaf {i} has shape {shapes[0]} in x and {shapes[1]} in y."
            )
    pairs = [shard_alike_p.bind(a, b) for a, b in zip(xs, ys)]
    return tree.unflatten([a for a, _ in pairs]), tree.unflatten([b for _, b in pairs])
