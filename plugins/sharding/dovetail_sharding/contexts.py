"""The current mesh, to which specs without a mesh refer."""

from __future__ import annotations

from typing import Any

from dovetail_base.placements import register_placement, register_surroundings
from dovetail_core import EVAL, get_trace, here
from dovetail_xla import shardings
from dovetail_xla.config import unset

from . import settings
from .meshes import EMPTY, EMPTY_ABSTRACT, AbstractMesh, Mesh
from .shardy import NamedSharding
from .specs import P as P, PartitionSpec as PartitionSpec


class set_mesh:
    """Make ``mesh`` the one that specs refer to, in this thread.

    As a statement it is set from then on; in a ``with`` block, for its length. ``None``: no mesh.

    Raises:
        ValueError: ``mesh`` is no :class:`Mesh`; it is set while something is being traced.
    """

    __slots__ = ("_before",)

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is not None and not isinstance(mesh, Mesh):  # pyright: ignore
            raise ValueError(
                f"set_mesh{here()} takes a Mesh, got a value of type {type(mesh).__name__}. A mesh "
                "without devices is set by use_abstract_mesh."
            )
        if get_trace() is not EVAL:
            raise ValueError(
                f"set_mesh{here()} in a function that is being traced: set the mesh around the "
                "call of the function."
            )
        self._before = settings.devices.get_local(), settings.abstract.get_local()
        given = None if mesh is None or mesh.empty else mesh
        settings.devices.set_local(given)
        settings.abstract.set_local(None if given is None else given.abstract_mesh)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        devices, abstract = self._before
        settings.devices.set_local(devices)
        settings.abstract.set_local(abstract)


class use_abstract_mesh:
    """Make ``mesh`` the result of :func:`get_abstract_mesh` for the length of a ``with`` block.

    Raises:
        ValueError: ``mesh`` is no :class:`AbstractMesh`.
    """

    __slots__ = ("_before", "_mesh")

    def __init__(self, mesh: AbstractMesh) -> None:
        if not isinstance(mesh, AbstractMesh):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"use_abstract_mesh{here()} takes an AbstractMesh, got a value of type "
                f"{type(mesh).__name__}. Give mesh.abstract_mesh, or set a Mesh by set_mesh."
            )
        self._mesh = mesh
        self._before: Any = unset

    def __enter__(self) -> None:
        self._before = settings.abstract.get_local()
        settings.abstract.set_local(None if self._mesh.empty else self._mesh)

    def __exit__(self, *error: Any) -> None:
        settings.abstract.set_local(self._before)


def get_mesh() -> Mesh:
    """The mesh that :func:`set_mesh` set, or the empty one.

    Raises:
        ValueError: it is asked for in a function that is being traced.
    """
    if get_trace() is not EVAL:
        raise ValueError(
            f"get_mesh{here()} in a function that is being traced, where devices are not known: "
            "use get_abstract_mesh."
        )
    return concrete_mesh()


def concrete_mesh() -> Mesh:
    """The mesh that :func:`set_mesh` set, or the empty one; also while something is traced."""
    return settings.devices.value or EMPTY


def get_abstract_mesh() -> AbstractMesh:
    """The mesh that was set, without its devices, or the empty one."""
    return settings.abstract.value or EMPTY_ABSTRACT


def _around() -> NamedSharding | None:
    """Copies on all devices of the mesh that is set."""
    mesh = settings.devices.value
    return None if mesh is None else NamedSharding(mesh, PartitionSpec())


register_surroundings(_around)


def devices_of_set_mesh(sharding: Any) -> NamedSharding | None:
    """A sharding of an abstract mesh on the devices of the mesh that is set or entered.

    None if that mesh has another shape, or the sharding has devices.
    """
    given = sharding
    if not isinstance(sharding, NamedSharding) or isinstance(sharding.mesh, Mesh):
        return None
    for mesh in (concrete_mesh(), resource_mesh()):
        if not mesh.empty and mesh.shape_tuple == sharding.mesh.shape_tuple:
            mesh = mesh.update(axis_types=sharding.mesh.axis_types)
            return NamedSharding(mesh, sharding.spec, memory_kind=given.memory_kind)
    return None


shardings.install(NamedSharding, "_on_devices", devices_of_set_mesh)


def resource_mesh() -> Mesh:
    """The mesh of the innermost ``with mesh:``, or the empty one."""
    entered = settings.resources.value
    return entered[-1] if entered else EMPTY


class NoMeshError(RuntimeError, ValueError, TypeError):
    """A PartitionSpec is given and no mesh is set.

    JAX raises RuntimeError for arguments of ``jit`` and ``with_sharding_constraint``, TypeError
    for ``ShapeDtypeStruct``, ValueError for others.
    """


def mesh_for_specs(argument: str) -> Any:
    """The mesh that specs refer to: that of ``set_mesh`` with its devices, or an abstract one, or
    that of the innermost ``with mesh:``.

    Raises:
        NoMeshError: none is set; names the argument that has a spec.
    """
    result = settings.devices.value
    abstract = settings.abstract.value
    if result is not None and abstract in (None, result.abstract_mesh):
        return result
    if abstract is not None:
        return abstract
    if not (entered := resource_mesh()).empty:
        return entered
    raise NoMeshError(
        f"{argument} has a PartitionSpec{here()}, and no mesh is set that it could refer to. Give "
        "NamedSharding(mesh, spec), or set one: with dovetail.set_mesh(mesh)."
    )


def _named(argument: str, spec: Any) -> NamedSharding:
    return NamedSharding(mesh_for_specs(argument), spec)


register_placement(PartitionSpec, _named)
