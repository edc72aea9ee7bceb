"""Asking the table ``sharding.infer``, and making rules for what has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import MissingRule, Primitive, ShardingTypeError, here, stage

from ..grids import NamedSharding
from ..specs import PartitionSpec, axes_of
from .table import Application, Parts, infer_rules, named_in


def infer(
    primitive: Primitive, avals: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
) -> list[Any]:
    """The types of an operation's results, of which ``results`` say all but how they are divided.

    Raises:
        ShardingTypeError: operands are on different meshes; the rule says that it is ambiguous; a
            result cannot be divided as it says.
    """
    mesh, many = _mesh(primitive, avals), primitive.multiple_results
    app = Application(primitive.title(params), mesh, avals, results, many)
    rule = infer_rules.rules.get(primitive)
    if rule is None:
        rule = _found(app, primitive)
    result = rule(app, **params)
    per_result = list(result) if primitive.multiple_results else [result]
    unreduced, reduced = _roles(app, primitive, params)
    made: list[Any] = []
    for aval, parts in zip(results, per_result):
        if not any(parts) and not unreduced and not reduced:
            made.append(aval)
            continue
        _check_result(app, aval, parts)
        spec = PartitionSpec(*parts, unreduced=unreduced, reduced=reduced)
        made.append(aval.update(sharding=NamedSharding(app.mesh, spec)))
    return made


def _mesh(primitive: Primitive, avals: Sequence[Any]) -> Any:
    result: Any = None
    for a in avals:
        if a.divided is None:
            continue
        mesh = a.divided.mesh
        if result is not None and mesh is not result and mesh.shape_tuple != result.shape_tuple:
            raise ShardingTypeError(
                f"{primitive.name}{here()}: operands are divided along axes of different meshes, "
                f"{result!r} and {mesh!r}. Put them on one mesh with device_put."
            )
        result = result or mesh
    return result


def _found(app: Application, primitive: Primitive) -> Any:
    try:
        return infer_rules.miss(primitive)
    except MissingRule as e:
        raise ShardingTypeError(
            f"{app.name}{here()}: nothing says how its results are divided, for operands of types "
            f"{', '.join(a.str_short() for a in app.ins)}. Call it within a function under "
            f"dovetail.sharding.auto_axes(..., out_sharding=...). {e}"
        ) from None


def _check_result(app: Application, aval: Any, parts: Parts) -> None:
    used = named_in(parts)
    text = aval.update(shape=aval.shape).str_short()
    if len(set(used)) < len(used):
        spec = PartitionSpec(*parts)
        app.refuse(f"its result, {text}, would be divided twice along one axis, as {spec}")
    for dim, (n, p) in enumerate(zip(aval.shape, parts)):
        if p is not None and not app.fits(n, p):
            app.refuse(
                f"dimension {dim} of its result, {text}, would be divided along {p!r} into "
                f"{app.count(p)} parts, which are not equally large"
            )


def _roles(
    app: Application, primitive: Primitive, params: dict[str, Any]
) -> tuple[frozenset[Any], frozenset[Any]]:
    """The axes along which results are unreduced, and reduced.

    What is linear in operands that are all unreduced has unreduced results. Whether a value is
    reduced matters to its cotangent, so that what is linear in it may pass that on.
    """
    told = [a.divided.spec for a in app.ins if a.divided is not None]
    none: frozenset[Any] = frozenset()
    if not any(s.unreduced or s.reduced for s in told):
        return none, none
    unreduced = none.union(*[s.unreduced for s in told])
    reduced = none.union(*[s.reduced for s in told])
    if unreduced:
        own = [i for i, a in enumerate(app.ins) if _spec(a).unreduced == unreduced]
        groups = [g for g in primitive.traits.groups(len(app.ins), params) if set(g) == set(own)]
        if not groups:
            app.refuse(
                f"operands are sums that are left to be done along {sorted(map(str, unreduced))}, "
                "and it is not linear in all of these together",
                "Do them first: dovetail.sharding.reshard(x, spec) with a spec without unreduced.",
            )
    alike = len(app.ins) == 1 or all(_spec(a).reduced == reduced for a in app.ins if a.shape)
    return unreduced, reduced if alike else none


def _spec(aval: Any) -> PartitionSpec:
    return PartitionSpec() if aval.divided is None else aval.divided.spec


@infer_rules.deriver
def derive(primitive: Primitive) -> Any:
    """The rule of what acts on elements in one place, or that of a decomposition."""
    if primitive.traits.elementwise:
        return elementwise
    return None if primitive.decomposition is None else _of_decomposition(primitive)


def elementwise(app: Application, /, **params: Any) -> Any:
    """Dimension by dimension what divides an operand; operands without dimensions do not count."""
    ndim = max(len(a.shape) for a in app.ins)
    given = [p for p in app.all_parts if len(p) == ndim]
    result = [app.merged(f"dimension {d}", [p[d] for p in given]) for d in range(ndim)]
    return [tuple(result)] * len(app.outs) if app.many else tuple(result)


def _of_decomposition(primitive: Primitive) -> Any:
    def rule(app: Application, /, **params: Any) -> Any:
        def f(*xs: Any) -> list[Any]:
            out = primitive.decomposition(*xs, **params)  # type: ignore[misc]
            return list(out) if primitive.multiple_results else [out]

        try:
            jaxpr, _ = stage(f, list(app.ins), primitive.name)
        except (TypeError, ShardingTypeError) as e:  # of a loop in it, say
            app.refuse(f"it is made of operations that cannot be divided so ({e})")
        result = [_parts_of(v.aval) for v in jaxpr.outvars]
        return result if primitive.multiple_results else result[0]

    return rule


def _parts_of(aval: Any) -> Parts:
    ndim = len(getattr(aval, "shape", ()))
    return (None,) * ndim if aval.divided is None else aval.divided.spec.partitions


def same(app: Application, /, **params: Any) -> Any:
    """The rule of operations whose results are divided as their first operand is."""
    parts = app.parts(0)
    return [parts] * len(app.outs) if app.many else parts


def each(app: Application, /, **params: Any) -> Any:
    """The rule of operations that return as many results as operands, divided alike."""
    return app.all_parts


def nowhere(app: Application, /, **params: Any) -> Any:
    """The rule of operations of whose results nothing is told."""
    result = [(None,) * len(getattr(a, "shape", ())) for a in app.outs]
    return result if app.many else result[0]


def undivided_along(app: Application, dims: Sequence[int], operand: int = 0) -> None:
    """Raise ShardingTypeError unless these dimensions of an operand are whole."""
    parts = app.parts(operand)
    for d in dims:
        if axes_of(parts[d]):
            app.refuse(
                f"it needs dimension {d} of operand {operand} whole, which is divided along "
                f"{parts[d]!r}"
            )
