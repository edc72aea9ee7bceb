"""The primitive ``reshard``: a value with another type as to how it is divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import device_put
from dovetail_base.placements import resolve_placement
from dovetail_core import Primitive, ShapedArray, def_impl, float0, here, registry, typeof
from dovetail_tree.util import broadcast_prefix, tree_flatten
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

from ..axis_types import AxisType
from ..contexts import concrete_mesh, get_abstract_mesh
from ..meshes import Mesh, only_like
from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of


def _shardings(params: dict[str, Any]) -> list[Any]:
    return [params["dst_sharding"]]


reshard_p = Primitive("reshard").def_traits(
    linear=((0,),),
    moves=True,
    divides=True,
    parameters={
        "dst_sharding": "the sharding of the result's type; axes of type Auto are not part of it",
        "auto": "axes of type Auto for the operand: the compiler divides it, and its cotangent, "
        "along them",
    },
    places=_shardings,
)


@reshard_p.def_abstract_eval
def _type(x: ShapedArray, *, dst_sharding: Any, auto: Any) -> ShapedArray:
    now = x.divided.spec.unreduced if x.divided is not None else frozenset()
    then = dst_sharding.spec.unreduced
    if (more := then - now) and (less := now - then):
        raise ValueError(
            f"reshard{here()} of {x.str_short()}: {dst_sharding.spec} leaves the sum along "
            f"{sorted(map(str, more))} to be done instead of that along {sorted(map(str, less))}. "
            "Do the one first: reshard to a spec without unreduced, then to this one."
        )
    return x.update(sharding=dst_sharding)


left_unreduced_p = Primitive("left_unreduced").def_traits(
    linear=((0,),),
    divides=True,
    parameters={
        "dst_sharding": "the sharding of the unreduced sum's type",
        "direct": "True if the operand is the result of that sum, and not made of such results",
    },
    places=_shardings,
)


@left_unreduced_p.def_abstract_eval
def _left_type(x: ShapedArray, *, dst_sharding: Any, direct: bool) -> ShapedArray:
    return x.update(sharding=dst_sharding)


@def_impl(reshard_p)
def _now(x: Any, *, dst_sharding: Any, auto: Any) -> Any:
    given: Any = typeof(x)
    reshard_to = given.update(sharding=dst_sharding).divided
    spec = dst_sharding.spec if reshard_to is None else reshard_to.spec
    mesh = _devices(x, dst_sharding.mesh)
    if given.is_high or spec.unreduced or (given.divided and given.divided.spec.unreduced):
        return _compiled()(_on(x, mesh), dst_sharding=dst_sharding, auto=auto)
    if x.__class__ is ArrayImpl and not mesh.explicit_axes:
        return _forgotten(x, mesh)
    return device_put(x, NamedSharding(mesh, spec))


@def_impl(left_unreduced_p)
def _left_now(x: Any, *, dst_sharding: Any, direct: bool) -> Any:
    """The evaluated sum has been reduced: one device gets it as its summand, the others zeros."""
    x = _on(x, _devices(x, dst_sharding.mesh))
    return _compiled()(x, dst_sharding=dst_sharding, auto=())


def _on(x: Any, mesh: Mesh) -> Any:
    """``x`` on ``mesh`` if it is on another mesh."""
    own: Any = getattr(x, "_sharding", None)
    if own.__class__ is NamedSharding and own.mesh is not mesh and not own.spec.unreduced:
        return device_put(x, NamedSharding(mesh, own.spec))
    return x


def _forgotten(x: Any, mesh: Mesh) -> Any:
    """The same array without a sharding in its type, on a mesh without explicit axes."""
    own = x._sharding
    spec = own.spec if isinstance(own, NamedSharding) else PartitionSpec()
    if len(own._internal_device_list) != mesh.size:
        return device_put(x, NamedSharding(mesh, PartitionSpec()))
    plain = spec.update(unreduced=frozenset(), reduced=frozenset())
    return assemble(
        x.aval.update(sharding=None), NamedSharding(mesh, plain), shards_of(x), x._committed
    )


_compile: list[Any] = []


def _compiled() -> Any:
    if not _compile:
        _compile.append(registry().provider("evaluator")(reshard_p))
    return _compile[0]


def _devices(x: Any, mesh: Any) -> Mesh:
    """A mesh with devices: those of the array, of the mesh that is set, or of the only mesh of
    this shape.

    Raises:
        ValueError: there is no such mesh.
    """
    if isinstance(mesh, Mesh):
        return mesh
    own = getattr(getattr(x, "_sharding", None), "mesh", None)
    for known in (own, concrete_mesh()):
        if isinstance(known, Mesh) and known.shape_tuple == mesh.shape_tuple:
            return known.update(axis_types=mesh.axis_types)
    if (result := only_like(mesh)) is not None:
        return result.update(axis_types=mesh.axis_types)
    raise ValueError(
        f"reshard{here()} to {mesh!r}, which has no devices: make the sharding with a Mesh, or set "
        "one (dovetail.set_mesh)."
    )


def put(x: Any, divided: Any) -> Any:
    """``x``, traced or not, with the sharding ``divided`` in its type (None: without one)."""
    aval: Any = typeof(x)
    if aval.dtype == float0 or aval.divided is divided:
        return x
    if divided is None:
        spec = PartitionSpec(*[None] * aval.ndim)
        divided = NamedSharding(aval.divided.mesh, spec)
    return reshard_p.bind(x, dst_sharding=divided, auto=())


def forget(x: Any, axes: Any = None) -> Any:
    """``x`` of a type without sharding along some axes of the mesh, by default all."""
    aval: Any = typeof(x)
    if aval.divided is None:
        return x
    return reshard_p.bind(x, dst_sharding=forgotten(aval, axes), auto=())


def forgotten(aval: Any, axes: Any = None) -> NamedSharding:
    """The sharding of a type without some axes."""
    mesh = aval.divided.mesh
    mesh = mesh.update_axis_types(
        {a: AxisType.Auto for a in mesh.explicit_axes if axes is None or a in axes}
    )
    keep = [
        tuple(a for a in (p if isinstance(p, tuple) else (p,)) if a in mesh.explicit_axes)
        for p in aval.divided.spec.partitions
    ]
    return NamedSharding(mesh, PartitionSpec(*keep))


def reshard_to(x: Any, sharding: Any, auto: Sequence[Any] = ()) -> Any:
    """``x`` with a sharding, also in its type.

    Args:
        auto: axes of type Auto for ``x``: the compiler divides it, and its cotangent, along them.
    """
    return reshard_p.bind(x, dst_sharding=sharding, auto=tuple(auto))


def left_unreduced(x: Any, sharding: Any) -> Any:
    """A sum over devices, left unreduced along the unreduced axes of ``sharding``."""
    return left_unreduced_p.bind(x, dst_sharding=sharding, direct=True)


def mesh_of(values: Any) -> Any:
    """The abstract mesh that is set, or else that of the types of values, or of their arrays; the
    empty one if there is none."""
    result = get_abstract_mesh()
    if not result.empty:
        return result
    for x in values:
        divided = typeof(x).divided
        if divided is not None:
            return divided.mesh
        own = getattr(getattr(x, "_sharding", None), "mesh", None)
        if own is not None:
            return own.abstract_mesh
    return result


def reshard(xs: Any, out_shardings: Any) -> Any:
    """``xs``, a pytree of arrays, with other shardings along axes of type ``Explicit``.

    Args:
        out_shardings: a NamedSharding, or a PartitionSpec of the mesh that is set; or a pytree of
            them, a prefix of ``xs``.

    Raises:
        ValueError: no mesh is set; an axis is of another type; the structures differ.
        TypeError: something else is given.
    """
    leaves, treedef = tree_flatten(xs)
    kinds = (NamedSharding, PartitionSpec)
    try:
        given = broadcast_prefix(out_shardings, xs, is_leaf=lambda v: isinstance(v, kinds))
    except ValueError as e:
        text = f"reshard{here()}: out_shardings must be a tree prefix of xs. {e}"
        raise ValueError(text) from None
    return treedef.unflatten([reshard_to(x, _explicit(s)) for x, s in zip(leaves, given)])


def _explicit(given: Any) -> NamedSharding:
    sharding = resolve_placement("out_shardings of reshard", given)
    if not isinstance(sharding, NamedSharding):
        raise TypeError(
            f"reshard{here()}: out_shardings has a value of type {type(given).__name__}; give a "
            "NamedSharding or a PartitionSpec."
        )
    types: Any = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
    for axis in (a for p in sharding.spec for a in axes_of(p)):
        if types[axis] is not AxisType.Explicit:
            raise ValueError(
                f"reshard{here()}: {sharding.spec} names the axis {axis!r}, which is of type "
                f"{types[axis]!r}. Arrays are resharded along axes of type Explicit; along others "
                "use device_put, or lax.with_sharding_constraint in a traced function."
            )
    return sharding
