"""Arguments of ``shard_map``: typed shardings, static arguments, and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base.wrapping import wraps
from dovetail_core import here, mutable_values, type_shardings, typeof
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of
from .high import is_high_spec
from .primitives import named
from .specs import INFER, Mapping, given_specs


def as_specified(mapping: Any, x: Any, spec: Any) -> Any:
    """An argument with the sharding in its type that the function takes.

    If the function is mapped over some axes only, the argument is divided along these as in
    ``spec``, and along others as before. If no axis of its mesh is of type ``Explicit``, its type
    has no sharding.
    """
    aval: Any = typeof(x)
    own: Any = None if is_high_spec(spec) or aval.is_mutable else aval.divided
    if own is None:
        return x
    if not mapping.mesh.explicit_axes and not mapping.mesh.manual_axes:
        return type_shardings.sharding_provider().without_division(x)
    axes, roles = set(mapping.axes), spec.unreduced | spec.reduced
    alike = own.mesh.axis_names == mapping.mesh.axis_names
    if axes == set(mapping.mesh.axis_names) or roles or not alike:
        return x
    given = [*spec.partitions, *[None] * aval.ndim]
    both = [
        (
            *[a for a in axes_of(p) if a not in own.mesh.auto_axes],
            *[a for a in axes_of(q) if a not in axes],
        )
        for p, q in zip(given, own.spec.partitions)
    ]
    own_roles = {"unreduced": own.spec.unreduced, "reduced": own.spec.reduced}
    wanted = NamedSharding(own.mesh, PartitionSpec(*both, **own_roles))
    return type_shardings.sharding_provider().with_division(x, wanted)


def along(axes: Sequence[Any], spec: PartitionSpec) -> PartitionSpec:
    """A spec with these axes only."""
    named_axes = set(named(spec)) | spec.unreduced | spec.reduced
    if named_axes <= set(axes):
        return spec
    left = [tuple([a for a in axes_of(p) if a in axes]) or None for p in spec.partitions]
    return PartitionSpec(
        *left, unreduced=spec.unreduced & set(axes), reduced=spec.reduced & set(axes)
    )


def without_statics(
    mapping: Mapping, f: Callable[..., Any], args: tuple[Any, ...], in_specs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
    """A function of the arguments' leaves that have specs or are arrays, these leaves, and their
    specs; the function and the arguments themselves if all leaves are such."""
    leaves, tree = tree_flatten(args)
    if in_specs is INFER or all(hasattr(x, "aval") for x in leaves):
        return f, args, in_specs
    specs = given_specs(mapping, "in_specs", in_specs, args)
    rest = [i for i, (x, s) in enumerate(zip(leaves, specs)) if s is not None or hasattr(x, "aval")]
    if len(rest) == len(leaves):
        return f, args, in_specs

    @wraps(f)
    def dynamic(*given: Any) -> Any:
        full = list(leaves)
        for i, x in zip(rest, given):
            full[i] = x
        return f(*tree_unflatten(tree, full))

    return dynamic, tuple([leaves[i] for i in rest]), tuple([specs[i] for i in rest])


def held(mapping: Mapping, leaves: Sequence[Any], name: Callable[[int], str]) -> list[Any]:
    """Arguments with the contents of references instead of these.

    Raises:
        ValueError: one is passed twice. TypeError: one holds no array.
    """
    from dovetail_refs import AbstractRef, get

    what = f"shard_map of {mapping.name}"
    mutable_values.check_aliases(what, leaves, [name(i) for i in range(len(leaves))])
    result: list[Any] = []
    for i, x in enumerate(leaves):
        aval: Any = typeof(x)
        if aval.is_mutable and not isinstance(aval, AbstractRef):
            raise TypeError(
                f"{what}{here()}: {name(i)} is {aval.str_short()}, which holds no one array. Pass "
                "references (new_ref)."
            )
        result.append(get(x) if aval.is_mutable else x)
    return result


def made(part: Any) -> Any:
    """A new reference to a part."""
    from dovetail_refs import new_ref

    return new_ref(part)


def frozen(ref: Any) -> Any:
    """The final content of a reference."""
    from dovetail_refs import freeze

    return freeze(ref)


def put(ref: Any, value: Any) -> None:
    """Write the final content back to the caller's reference."""
    from dovetail_refs import set as write

    write(ref, ..., value)
