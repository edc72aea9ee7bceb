"""The primitive ``reshard``: a value with another type as to how it is divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import device_put
from dovetail_core import Primitive, ShapedArray, def_impl, float0, here, registry, typeof
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

from ..axis_types import AxisType
from ..contexts import concrete_mesh, get_abstract_mesh
from ..grids import NamedSharding
from ..meshes import Mesh, only_like
from ..specs import PartitionSpec


def _places(params: dict[str, Any]) -> list[Any]:
    return [params["dst_sharding"]]


reshard_p = Primitive("reshard").def_traits(
    linear=((0,),),
    moves=True,
    divides=True,
    parameters={
        "dst_sharding": "where types say that the result is; nothing where axes are Auto",
        "auto": "axes of type Auto where the operand was computed: the compiler divides it, and "
        "its cotangent, along them",
    },
    places=_places,
)


@reshard_p.def_abstract_eval
def _type(x: ShapedArray, *, dst_sharding: Any, auto: Any) -> ShapedArray:
    now = x.divided.spec.unreduced if x.divided is not None else frozenset()
    then = dst_sharding.spec.unreduced
    if (more := then - now) and (less := now - then):
        raise ValueError(
            f"reshard{here()} of {x.str_short()}: {dst_sharding.spec} leaves the sum along "
            f"{sorted(map(str, more))} to be done in place of that along {sorted(map(str, less))}. "
            "Do the one first: reshard to a spec without unreduced, then to this one."
        )
    return x.update(sharding=dst_sharding)


left_unreduced_p = Primitive("left_unreduced").def_traits(
    linear=((0,),),
    divides=True,
    parameters={
        "dst_sharding": "how types say that the sum is divided that is left to be done",
        "direct": "whether the operand is the result of that sum, and not made of such results",
    },
    places=_places,
)


@left_unreduced_p.def_abstract_eval
def _left_type(x: ShapedArray, *, dst_sharding: Any, direct: bool) -> ShapedArray:
    return x.update(sharding=dst_sharding)


@def_impl(reshard_p)
def _now(x: Any, *, dst_sharding: Any, auto: Any) -> Any:
    given: Any = typeof(x)
    told = given.update(sharding=dst_sharding).divided
    spec = dst_sharding.spec if told is None else told.spec
    mesh = _devices(x, dst_sharding.mesh)
    if given.is_high or spec.unreduced or (given.divided and given.divided.spec.unreduced):
        return _compiled()(_on(x, mesh), dst_sharding=dst_sharding, auto=auto)
    if x.__class__ is ArrayImpl and not mesh.explicit_axes:
        return _forgotten(x, mesh)
    return device_put(x, NamedSharding(mesh, spec))


@def_impl(left_unreduced_p)
def _left_now(x: Any, *, dst_sharding: Any, direct: bool) -> Any:
    """At rest the sum has been done: one device has it, and the others zeros."""
    x = _on(x, _devices(x, dst_sharding.mesh))
    return _compiled()(x, dst_sharding=dst_sharding, auto=())


def _on(x: Any, mesh: Mesh) -> Any:
    """``x``, whose mesh is ``mesh`` if it is another one of its form."""
    own: Any = getattr(x, "_sharding", None)
    if own.__class__ is NamedSharding and own.mesh is not mesh and not own.spec.unreduced:
        return device_put(x, NamedSharding(mesh, own.spec))
    return x


def _forgotten(x: Any, mesh: Mesh) -> Any:
    """The same array, on a mesh that is divided as the compiler likes."""
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
    """A mesh as it is on devices: those of the array, or of the mesh that is set, or of the only
    one of its form.

    Raises:
        ValueError: there are none of its form.
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
    """``x``, traced or at rest, divided so (None: in no way that types tell)."""
    aval: Any = typeof(x)
    if aval.dtype == float0 or aval.divided is divided:
        return x
    if divided is None:
        spec = PartitionSpec(*[None] * aval.ndim)
        divided = NamedSharding(aval.divided.mesh, spec)
    return reshard_p.bind(x, dst_sharding=divided, auto=())


def forget(x: Any, axes: Any = None) -> Any:
    """``x`` of a type that says nothing of some axes of the mesh, by default of all."""
    aval: Any = typeof(x)
    if aval.divided is None:
        return x
    return reshard_p.bind(x, dst_sharding=forgotten(aval, axes), auto=())


def forgotten(aval: Any, axes: Any = None) -> NamedSharding:
    """The sharding by which a type says nothing of some axes."""
    mesh = aval.divided.mesh
    mesh = mesh.update_axis_types(
        {a: AxisType.Auto for a in mesh.explicit_axes if axes is None or a in axes}
    )
    keep = [
        tuple(a for a in (p if isinstance(p, tuple) else (p,)) if a in mesh.explicit_axes)
        for p in aval.divided.spec.partitions
    ]
    return NamedSharding(mesh, PartitionSpec(*keep))


def told(x: Any, sharding: Any, auto: Sequence[Any] = ()) -> Any:
    """``x`` divided as ``sharding`` says, and of that type.

    Args:
        auto: axes of type Auto where ``x`` was computed: how it is divided along them, and its
            cotangent, is the compiler's choice.
    """
    return reshard_p.bind(x, dst_sharding=sharding, auto=tuple(auto))


def left_unreduced(x: Any, sharding: Any) -> Any:
    """A sum over devices, left to be done as ``sharding`` says."""
    return left_unreduced_p.bind(x, dst_sharding=sharding, direct=True)


def mesh_of(values: Any) -> Any:
    """The abstract mesh that is set, or else that of whose axes the types of values tell, or of
    their arrays; the empty one where there is none."""
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
