"""Parts of values of high types, which are divided as their types and specs declare.

The method ``shard`` of a type returns the type of a part, ``unshard`` of that the global type;
``to_lo`` of the spec returns the PartitionSpec of each array.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    MissingMethod,
    Primitive,
    bound_axis,
    here,
    low_types,
    lower_to_lo,
    lower_values,
    raise_values,
    to_lo_rules,
    typeof,
)
from dovetail_high.types import low_parts
from dovetail_lax import psum_invariant_p, pvary_p

from ..specs import PartitionSpec
from .joining import global_array
from .primitives import named, outside, shard_map_p, to_parts_p

_MEANING = {
    "mapping": "the mesh and the axes of shard_map",
    "spec": "the spec of the value",
    "mapped": "size and axis of each vmap, the outermost first",
}

high_to_parts_p = Primitive("high_to_parts").def_traits(parameters=_MEANING)
high_from_parts_p = Primitive("high_from_parts").def_traits(
    parameters={**_MEANING, "back": "True for cotangents: parts that differ are summed"}
)
high_to_parts_p.is_high = high_from_parts_p.is_high = lambda **params: True


def is_high_spec(x: Any) -> bool:
    """True if ``x`` is a spec of values of a high type."""
    return hasattr(x, "to_lo") and not isinstance(x, PartitionSpec)


def specs_of(spec: Any, count: int) -> list[PartitionSpec]:
    """The PartitionSpec of each of the arrays of a value.

    Raises:
        TypeError: there are others, or not as many.
    """
    result = list(spec.to_lo())
    if len(result) != count or not all(isinstance(s, PartitionSpec) for s in result):
        raise TypeError(
            f"{type(spec).__name__}.to_lo returned {result!r}{here()}: for a value that is made of "
            f"{count} arrays it must be {count} PartitionSpecs."
        )
    return result


def to_parts(mapping: Any, x: Any, spec: Any, mapped: tuple[Any, ...] = ()) -> Any:
    """The part of a global value that a device has."""
    if is_high_spec(spec):
        return high_to_parts_p.bind(x, mapping=mapping, spec=spec, mapped=mapped)
    return _part(mapping, x, _inside(x, spec, mapped))


def from_parts(
    mapping: Any, x: Any, spec: Any, mapped: tuple[Any, ...] = (), back: bool = False
) -> Any:
    """The global value that consists of parts."""
    if is_high_spec(spec):
        return high_from_parts_p.bind(x, mapping=mapping, spec=spec, mapped=mapped, back=back)
    return _unsharded(mapping, x, _inside(x, spec, mapped), back)


def _inside(x: Any, spec: PartitionSpec, mapped: Sequence[Any]) -> PartitionSpec:
    """The spec of an array with mapped axes, the outermost first."""
    aval: Any = typeof(x)
    for i, (_, axis) in reversed(list(enumerate(mapped))):
        spec = _with_undivided(spec, axis, aval.ndim - i)
    return spec


def _part(mapping: Any, x: Any, spec: PartitionSpec) -> Any:
    if named(spec):
        x = to_parts_p.bind(x, mesh=mapping.mesh.abstract_mesh, spec=spec)
    return x if mapping.check else varying(x, mapping.axes)


def _unsharded(
    mapping: Any, x: Any, spec: PartitionSpec, back: bool, name: str = "a result"
) -> Any:
    aval: Any = typeof(x)
    rest = tuple(a for a in mapping.axes if a in aval.vma and a not in named(spec))
    if back and rest:
        x = psum_invariant_p.bind(x, axes=rest)
    return global_array(mapping, x, spec, name)


def _elements(aval: Any, mapped: Sequence[Any]) -> list[Any]:
    """The type of a value, of its elements, of theirs, ..."""
    result = [aval]
    for size, axis in mapped:
        result.append(result[-1].mapped(size, axis))
    return result


def _collected(aval: Any, mapped: Sequence[Any]) -> Any:
    for size, axis in reversed(mapped):
        aval = aval.unmapped(size, axis)
    return aval


def _method(aval: Any, name: str, arguments: str) -> Any:
    """A method that types of values have which go through ``shard_map``."""
    if not hasattr(type(aval), name):
        raise MissingMethod.of(aval, f"{name}({arguments})", "to pass a value through shard_map")
    return getattr(aval, name)


@high_to_parts_p.def_abstract_eval
def _part_type(x: Any, *, mapping: Any, spec: Any, mapped: Any) -> Any:
    shard = _method(_elements(x, mapped)[-1], "shard", "self, mesh, manual_axes, check_vma, spec")
    part = shard(mapping.mesh, frozenset(mapping.axes), mapping.check, spec)
    return _collected(part, mapped)


@high_from_parts_p.def_abstract_eval
def _unsharded_type(x: Any, *, mapping: Any, spec: Any, mapped: Any, back: bool) -> Any:
    unshard = _method(_elements(x, mapped)[-1], "unshard", "self, mesh, check_vma, spec")
    return _collected(unshard(mapping.mesh, mapping.check, spec), mapped)


def _array_specs(aval: Any, spec: Any, mapped: Sequence[Any]) -> list[PartitionSpec]:
    """The spec of each array of a value, with undivided mapped axes."""
    types = _elements(aval, mapped)
    result = specs_of(spec, len(aval.lo_ty()))
    for each, (_, axis) in reversed(list(zip(types, mapped))):
        entries = [(s, d, t.ndim) for s, d, t in zip(result, each.lo_axes(axis), each.lo_ty())]
        result = [s if d is None else _with_undivided(s, d, n) for s, d, n in entries]
    return result


def _with_undivided(spec: PartitionSpec, axis: int, ndim: int) -> PartitionSpec:
    partitions = [*spec.partitions, *[None] * ndim][: ndim - 1]
    return PartitionSpec(*partitions[:axis], None, *partitions[axis:])


@to_lo_rules.register(high_to_parts_p)
def _part_arrays(x: Any, *, mapping: Any, spec: Any, mapped: Any) -> Any:
    aval: Any = typeof(x)
    out = _part_type(aval, mapping=mapping, spec=spec, mapped=mapped)
    arrays = low_parts(x, aval, "to pass it to shard_map")
    pairs = zip(arrays, _array_specs(aval, spec, mapped))
    return out.raise_val(*[_part(mapping, a, s) for a, s in pairs])


@to_lo_rules.register(high_from_parts_p)
def _unsharded_arrays(x: Any, *, mapping: Any, spec: Any, mapped: Any, back: bool) -> Any:
    aval: Any = typeof(x)
    out = _unsharded_type(aval, mapping=mapping, spec=spec, mapped=mapped, back=back)
    what = f"a result of type {aval.str_short()}"
    result: list[Any] = []
    for i, (a, s) in enumerate(zip(aval.lower_val(x), _array_specs(aval, spec, mapped))):
        result.append(_unsharded(mapping, a, s, back, f"array {i} of {what}"))
    return out.raise_val(*result)


@to_lo_rules.register(shard_map_p)
def _lowered(*args: Any, jaxpr: ClosedJaxpr, mesh: Any, manual_axes: tuple[Any, ...]) -> Any:
    """A mapped program on the arrays of high values; operations in it know the axes' names."""
    mapping = next((e.params["mapping"] for e in jaxpr.eqns if "mapping" in e.params), None)
    checked = mapping is None or mapping.check
    with ExitStack() as scope:
        for axis in manual_axes:
            size = mesh.shape[axis]
            scope.enter_context(bound_axis(axis, size, manual=True, checked=checked))
        low = lower_to_lo(jaxpr)
    _check_vma(low, low_types(jaxpr.out_avals))
    arrays = lower_values(args, "asked for to pass it to shard_map")
    outs = shard_map_p.bind(*arrays, jaxpr=low, mesh=mesh, manual_axes=manual_axes)
    return raise_values(outs, [outside(a, mesh, manual_axes) for a in jaxpr.out_avals])


def _check_vma(low: ClosedJaxpr, declared: Sequence[Any]) -> None:
    """Raise TypeError if a result varies along axes that its type did not have when traced."""
    for i, (aval, wanted) in enumerate(zip(low.out_avals, declared)):
        if over := sorted(map(repr, aval.vma - wanted.vma)):
            raise TypeError(
                f"shard_map{here()}: array {i} of what it returns, or keeps for derivatives, "
                f"varies along {', '.join(over)}, and the types of operations on values of high "
                "types do not say so. Give the types of their results "
                "ShapedArray(..., vma=...), or pass check_vma=False."
            )


def refuse_unchecked(mapping: Any) -> None:
    """Raise NotImplementedError for derivatives if types do not have the axes of variation."""
    if not mapping.check:
        raise NotImplementedError(
            f"shard_map of {mapping.name}{here()}: derivatives with respect to values of high "
            "types need check_vma=True."
        )


def varying(x: Any, axes: Sequence[Any]) -> Any:
    """``x`` as a value that varies along these axes."""
    aval: Any = typeof(x)
    more = tuple(a for a in axes if a not in aval.vma)
    return pvary_p.bind(x, axes=more) if more else x
