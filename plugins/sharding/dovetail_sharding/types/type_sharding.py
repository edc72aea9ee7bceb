"""The shardings in types of arrays: the provider ``type_sharding`` of the kernel.

The sharding of a type is a ``NamedSharding`` of an abstract mesh that names axes of type
``Explicit`` alone, with one partition for each dimension. It is None if it would name no axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from dovetail_core import ShardingTypeError, cached, here

from ..axis_types import AxisType
from ..contexts import get_abstract_mesh
from ..meshes import AbstractMesh
from ..named import tiles
from ..settings import remove_size_one_mesh_axis_from_type
from ..shardy import NamedSharding
from ..specs import UNCONSTRAINED, PartitionSpec, axes_of, without_single


class TypeShardings:
    """See ``dovetail_core.types.type_shardings.Dividing``."""

    def default_sharding(self, ndim: int) -> NamedSharding:
        """Copies on the mesh that is set."""
        return NamedSharding(get_abstract_mesh(), PartitionSpec(*[None] * ndim))

    def as_sharding(self, divided: Any) -> NamedSharding:
        """The sharding with the current types of axes: the axes of an enclosing ``shard_map`` are
        Manual."""
        mesh = get_abstract_mesh()
        if not mesh.manual_axes or mesh.shape_tuple != divided.mesh.shape_tuple:
            return divided
        return NamedSharding(mesh, divided.spec)

    def division_of(self, sharding: Any, shape: tuple[int, ...]) -> NamedSharding | None:
        """The sharding in the types of arrays with a sharding, or None.

        Raises:
            ValueError: arrays of this shape cannot be divided so.
        """
        if not isinstance(sharding, NamedSharding):
            return None
        mesh: Any = sharding.mesh.abstract_mesh
        if not mesh.explicit_axes:
            return None
        if len(sharding.spec) > len(shape):
            sharding.check_compatible_aval(shape)  # type: ignore[attr-defined]
        spec = sharding.spec
        if remove_size_one_mesh_axis_from_type.value:
            spec = without_single(mesh, spec)
        result = _type_sharding(mesh, spec, len(shape))
        if result is not None:
            check_divisible(result, shape)
        return result

    def text(self, divided: Any, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
        """``8@x`` for each dimension, and ``U:x``, ``R:x`` for unreduced and reduced axes."""
        dims = [f"{n}@{_named(axes_of(p))}" if p else str(n) for n, p in zip(shape, divided.spec)]
        roles = (("U", divided.spec.unreduced), ("R", divided.spec.reduced))
        return dims, [f"{k}:{_named(sorted(v, key=str))}" for k, v in roles if v]

    def parse(self, dims: Sequence[str], roles: Mapping[str, str]) -> NamedSharding:
        """The sharding of a text by :meth:`text`, on the mesh that is set.

        Raises:
            ValueError: none is set, or it has no such axes.
        """
        mesh: Any = get_abstract_mesh()
        if mesh.empty:
            raise ValueError(
                "it tells how an array is divided along axes of a mesh, and none is set. Set the "
                "one that it is of: with dovetail.set_mesh(mesh)."
            )
        given = [_axes_named(mesh, d.partition("@")[2]) for d in dims]
        more = {k: _axes_named(mesh, roles.get(k, "")) for k in ("U", "R")}
        spec = PartitionSpec(*given, unreduced=set(more["U"]), reduced=set(more["R"]))
        return NamedSharding(mesh, spec)

    def infer(
        self, primitive: Any, avals: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
    ) -> Sequence[Any]:
        """The types of an operation's results, by the table ``sharding.infer``."""
        from .inference import infer  # here, so that the table is imported where one is divided

        return infer(primitive, avals, params, results)

    def with_dimension(self, divided: Any, at: int, name: Any) -> NamedSharding | None:
        """The sharding with one more dimension, divided along the axis ``name`` if that is not
        None; None for a value of no mesh if no mesh is set."""
        mesh = get_abstract_mesh() if divided is None else divided.mesh
        if divided is None and mesh.empty:
            return None
        parts: list[Any] = [] if divided is None else list(divided.spec.partitions)
        spec = PartitionSpec() if divided is None else divided.spec
        parts += [None] * (at - len(parts))
        parts.insert(at, name)
        if name is not None and any(a in axes_of(p) for p in spec for a in axes_of(name)):
            raise ShardingTypeError(
                f"vmap over an axis that is divided along {name!r}{here()} of values that are "
                f"divided along it, too: {spec}. Reshard them."
            )
        return NamedSharding(mesh, spec.update(partitions=parts))

    def without_dimension(self, divided: Any, at: int) -> NamedSharding:
        """The sharding without a dimension."""
        parts = divided.spec.partitions
        return NamedSharding(
            divided.mesh, divided.spec.update(partitions=(*parts[:at], *parts[at + 1 :]))
        )

    def cotangent(self, divided: Any) -> Any:
        """The sharding of cotangents: reduced axes are unreduced there, and the reverse."""
        spec = divided.spec
        if not spec.unreduced and not spec.reduced:
            return divided
        back = spec.update(unreduced=spec.reduced, reduced=spec.unreduced)
        return _type_sharding(divided.mesh, back, len(back))

    def with_division(self, x: Any, divided: Any) -> Any:
        """``x`` with the sharding ``divided`` in its type (None: without one)."""
        from .resharding import put

        return put(x, divided)

    def leaving_unreduced(
        self, axes: Set[Any], f: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """``f(*args, **kwargs)`` with results that are unreduced along ``axes``."""
        from .unreduced import leaving

        return leaving(axes, f, args, kwargs)

    def without_division(self, x: Any) -> Any:
        """``x`` as a value whose type has no sharding."""
        from .resharding import forget

        return forget(x)

    def result(
        self, sharding: Any, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """``f(*args, **kwargs)`` with results of this sharding."""
        from .modes import with_result

        return with_result(sharding, f, args, kwargs)


def _axes_named(mesh: AbstractMesh, text: str) -> tuple[Any, ...]:
    """The axes of a mesh by their names in text."""
    names = [n.strip() for n in text.strip("()").split(",") if n.strip()]
    known = {str(a): a for a in mesh.explicit_axes}
    for n in names:
        if n not in known:
            raise ValueError(f"the mesh that is set has no axis {n!r} of type Explicit: {mesh!s}")
    return tuple(known[n] for n in names)


TYPE_SHARDINGS = TypeShardings()


@cached(bound=8192)
def _type_sharding(mesh: AbstractMesh, spec: PartitionSpec, ndim: int) -> NamedSharding | None:
    explicit = mesh.explicit_axes
    dims: list[Any] = []
    for p in [*spec.partitions, *[None] * (ndim - len(spec))]:
        axes = () if p is UNCONSTRAINED else tuple([a for a in axes_of(p) if a in explicit])
        dims.append(axes)
    if not any(dims) and not spec.unreduced and not spec.reduced:
        return None
    return _the_one(_without_manual(mesh), PartitionSpec(
        *dims, unreduced=spec.unreduced, reduced=spec.reduced
    ))  # fmt: skip


@cached(permanent="types are compared by which sharding they have")
def _the_one(mesh: AbstractMesh, spec: PartitionSpec) -> NamedSharding:
    return NamedSharding(mesh, spec)


@cached(bound=256)
def _without_manual(mesh: AbstractMesh) -> AbstractMesh:
    """The mesh with explicit axes for manual ones, so that types are of one mesh within manual
    regions and outside; no type has a sharding along manual axes."""
    return mesh.update_axis_types(dict.fromkeys(mesh.manual_axes, AxisType.Explicit))


def check_divisible(divided: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless all parts of arrays of this shape have one size."""
    for dim, (n, k) in enumerate(zip(shape, tiles(divided.mesh, divided.spec, len(shape)))):
        if n % k:
            raise ValueError(
                f"dimension {dim} of shape {shape} has size {n}{here()}, which {divided.spec} "
                f"divides into {k} parts: they would not be equally large. Pad it, or leave it "
                "whole."
            )


def _named(axes: Sequence[Any]) -> str:
    return str(axes[0]) if len(axes) == 1 else f"({','.join(map(str, axes))})"
