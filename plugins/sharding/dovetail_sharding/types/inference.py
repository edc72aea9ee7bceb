"""The table ``sharding.infer``: the shardings in types of results, from those of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from dovetail_core import MissingRule, Primitive, RuleTable, ShardingTypeError, here, stage

from ..meshes import AbstractMesh
from ..named import tiles
from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of

Parts = tuple[Any, ...]
"""For each dimension None, the name of an axis, or names of several (see ``PartitionSpec``)."""


class Application(NamedTuple):
    """An operation on operands of which at least one is divided.

    Attributes:
        name: its name in errors. mesh: the mesh of the shardings in types.
        ins: the types of its operands. outs: the types of its results, without shardings.
        many: True if the primitive has multiple results.
    """

    name: str
    mesh: AbstractMesh
    ins: Sequence[Any]
    outs: Sequence[Any]
    many: bool

    def parts(self, operand: int) -> Parts:
        """The partition of each dimension of an operand."""
        aval = self.ins[operand]
        ndim = len(getattr(aval, "shape", ()))
        return (None,) * ndim if aval.divided is None else aval.divided.spec.partitions

    def reduced(self, operand: int) -> frozenset[Any]:
        """The axes along which an operand is reduced, and so its cotangent unreduced."""
        aval = self.ins[operand]
        return frozenset() if aval.divided is None else aval.divided.spec.reduced

    @property
    def all_parts(self) -> list[Parts]:
        """:meth:`parts` of all operands."""
        return [self.parts(i) for i in range(len(self.ins))]

    def count(self, partition: Any) -> int:
        """The number of parts of a dimension with this partition."""
        return tiles(self.mesh, PartitionSpec(partition), 1)[0]

    def fits(self, size: int, partition: Any) -> bool:
        """True if a partition divides a dimension of this size."""
        return size % self.count(partition) == 0

    def merged(self, what: str, partitions: Sequence[Any]) -> Any:
        """The common partition of several, of which those that are None are ignored.

        Raises:
            ShardingTypeError: two differ; ``what`` names the dimension.
        """
        result: Any = None
        for p in partitions:
            if p is not None and result is not None and p != result:
                self.refuse(f"{what} is divided in different ways, along {result!r} and {p!r}")
            result = p if result is None else result
        return result

    def refuse(
        self, why: str, remedy: str = "", along: Sequence[Any] = (), parts: Parts = ()
    ) -> NoReturn:
        """Raise ShardingTypeError: names the operation, the types of operands and what to do.

        Args:
            along: the axes over which a result is summed, so that it could be left unreduced.
            parts: the partitions of the unreduced result.
        """
        types = ", ".join(a.str_short() for a in self.ins)
        remedy = remedy or "Move operands first: dovetail.sharding.reshard(x, spec)."
        error = ShardingTypeError(f"{self.name} of {types}{here()}: {why}. {remedy}")
        error.along, error.parts = frozenset(along), tuple(parts)
        raise error


class InferRule(Protocol):
    """Returns the partitions of the results of one operation.

    ``rule(app, **params)`` returns the partition of each dimension of the result (see ``Parts``),
    or a list of such tuples if the primitive has multiple results. It calls ``app.refuse`` if that
    is ambiguous. It is called only if an operand is divided.
    """

    def __call__(self, app: Application, /, **params: Any) -> Any: ...


infer_rules: RuleTable[Any] = RuleTable(
    "sharding.infer",
    signature=InferRule,
    law="infer",
    empty="its sub-programs say it; where there are none, operands must not be divided",
)


def ask_for_out_sharding(what: str) -> str:
    """The remedy of errors of functions with an argument ``out_sharding``."""
    return f"Say how the result is to be divided: {what}."


def without(parts: Parts, dims: Sequence[int]) -> Parts:
    """Partitions without those of some dimensions."""
    return tuple([p for i, p in enumerate(parts) if i not in dims])


def named_in(parts: Parts) -> list[Any]:
    """All axes that are named."""
    return [a for p in parts for a in axes_of(p)]


def infer(
    primitive: Primitive, avals: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
) -> list[Any]:
    """The types of an operation's results: the types ``results`` with shardings.

    Raises:
        ShardingTypeError: operands are on different meshes; the rule refuses the operation; a
            result cannot have the inferred sharding.
    """
    mesh, many = _mesh(primitive, avals), primitive.multiple_results
    app = Application(primitive.title(params), mesh, avals, results, many)
    rule = infer_rules.rules.get(primitive)
    if rule is None:
        rule = _rule_of(app, primitive)
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


def _rule_of(app: Application, primitive: Primitive) -> Any:
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

    An operation that is linear in operands which are all unreduced has unreduced results. Reduced
    axes concern cotangents, so that operations that are linear in an operand may keep them.
    """
    specs = [a.divided.spec for a in app.ins if a.divided is not None]
    none: frozenset[Any] = frozenset()
    if not any(s.unreduced or s.reduced for s in specs):
        return none, none
    unreduced = none.union(*[s.unreduced for s in specs])
    reduced = none.union(*[s.reduced for s in specs])
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
    """The rule of elementwise operations, or one by the decomposition; None if there is neither."""
    if primitive.traits.elementwise:
        return elementwise
    return None if primitive.decomposition is None else _of_decomposition(primitive)


def elementwise(app: Application, /, **params: Any) -> Any:
    """The common partition of operands, dimension by dimension; scalars are ignored."""
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
    """The rule of operations whose results have the partitions of their first operand."""
    parts = app.parts(0)
    return [parts] * len(app.outs) if app.many else parts


def each(app: Application, /, **params: Any) -> Any:
    """The rule of operations with as many results as operands, and equal partitions."""
    return app.all_parts


def nowhere(app: Application, /, **params: Any) -> Any:
    """The rule of operations whose results are not divided."""
    result = [(None,) * len(getattr(a, "shape", ())) for a in app.outs]
    return result if app.many else result[0]


def undivided_along(app: Application, dims: Sequence[int], operand: int = 0) -> None:
    """Raise ShardingTypeError if one of these dimensions of an operand is divided."""
    parts = app.parts(operand)
    for d in dims:
        if axes_of(parts[d]):
            app.refuse(
                f"it needs dimension {d} of operand {operand} whole, which is divided along "
                f"{parts[d]!r}"
            )
