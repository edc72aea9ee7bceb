"""Batching: values with a mapped axis carried through a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    LiftTrace,
    LiftTracer,
    Primitive,
    Trace,
    derive,
    typeof,
)
from dovetail_core.algebra import algebra
from dovetail_core.trace import reset_trace, set_trace

from .tables import BatchRule, batch_rules

Batched = tuple[Any, int | None]
"""An array and the position of its mapped axis; None where it has none."""


@dataclass(frozen=True)
class Axis:
    """A mapped axis: its length, its name (None: no collective can refer to it), its mesh axes."""

    size: int
    name: Hashable = None
    spmd_name: Hashable = None


_carriers: dict[Axis, BatchCarrier] = {}


def carrier_of(axis: Axis) -> BatchCarrier:
    """The carrier of an axis (one object per axis, so that lifted programs are found again)."""
    found = _carriers.get(axis)
    if found is None:
        found = _carriers[axis] = BatchCarrier(axis)
    return found


class BatchCarrier:
    """Lifted values are arrays with a mapped axis; their structure is whether they have one.

    Where a sub-program takes a batched value, the mapped axis comes first; ``depth`` loop axes go
    before it.
    """

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.key = ("batch", axis)

    def trace(self, parent: Trace) -> BatchTrace:
        return BatchTrace(parent, self)

    def pure(self, x: Any) -> Batched:
        return x, None

    def aval(self, value: Batched) -> AbstractValue:
        x, dim = value
        aval: Any = typeof(x)
        if dim is None:
            return aval
        return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])

    def structure(self, value: Batched, depth: int) -> bool:
        return value[1] is not None

    def join(self, a: bool, b: bool) -> bool:
        return a or b

    def types(self, aval: AbstractValue, structure: bool) -> tuple[AbstractValue, ...]:
        if not structure:
            return (aval,)
        return (aval.update(shape=(self.axis.size, *aval.shape)),)  # type: ignore[attr-defined]

    def arrays(self, value: Batched, structure: bool, depth: int) -> tuple[Any, ...]:
        x, dim = value
        if not structure or dim == depth:
            return (x,)
        if dim is None:
            return (algebra().broadcast(x, self.axis.size, depth),)
        return (algebra().move_axis(x, dim, depth),)

    def value(self, arrays: Sequence[Any], structure: bool, depth: int) -> Batched:
        return arrays[0], depth if structure else None

    def known(self, value: Batched) -> Any:
        return value[0] if value[1] is None else None

    def may(self, predicate: Batched) -> Any:
        return algebra().any(predicate[0])

    def choose(self, index: Batched, cases: Sequence[Batched]) -> Batched:
        """Elementwise over the mapped axis, which is moved to the front of the cases."""
        which = self.arrays(index, True, 0)[0]
        arrays = [self.arrays(c, True, 0)[0] for c in cases]
        return algebra().pick(which, arrays), 0


class BatchTrace(LiftTrace[Batched]):
    """Runs operations on batched values by the cells of ``batching.batch``."""

    __slots__ = ("axis",)
    carrier: BatchCarrier
    what = "vmap"

    def __init__(self, parent: Trace, carrier: BatchCarrier) -> None:
        super().__init__(parent, carrier, batch_rules)
        self.axis = carrier.axis

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        dims: list[int | None] = []
        lifted = False
        for x in args:
            if x.__class__ is LiftTracer and x._trace is self:
                value, dim = x.value
                values.append(value)
                dims.append(dim)
                lifted = True
            else:
                values.append(x)
                dims.append(None)
        # Collectives over this axis concern it even if no operand is batched.
        if not lifted and (self.axis.name is None or not self._names_axis(primitive, params)):
            return self.parent.process(primitive, args, params)
        rule = batch_rules.rules.get(primitive) or batch_rules.miss(primitive)
        token = set_trace(self.parent)
        try:
            out, dim = rule(self.axis, values, dims, **params)
        finally:
            reset_trace(token)
        if primitive.multiple_results:
            return [self.lift(v) for v in zip(out, dim)]
        return self.lift((out, dim))

    def _names_axis(self, primitive: Primitive, params: dict[str, Any]) -> bool:
        if primitive.form is None:
            return "axis_sizes" in params and self.axis.name in params["axes"]
        return any(self.axis.name in axes_of(r.program) for r in primitive.form(params).regions)


def axes_of(program: ClosedJaxpr) -> frozenset[Hashable]:
    """Names of the axes that the collectives in a program are about; remembered with it."""
    found = program.cache.get("axes")
    if found is None:
        names: set[Hashable] = set()
        for eqn in program.eqns:
            if "axis_sizes" in eqn.params:
                names.update(eqn.params["axes"])
            elif eqn.primitive.form is not None:
                for region in eqn.primitive.form(eqn.params).regions:
                    names |= axes_of(region.program)
        found = program.cache["axes"] = frozenset(names)
    return found


def derive_batch(primitive: Primitive) -> BatchRule | None:
    """The cell that follows from a primitive's form or decomposition."""
    lifted = derive(primitive)
    if lifted is None:
        return None

    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Any, Any]:
        out = lifted(carrier_of(axis), list(zip(args, dims)), params)
        if primitive.multiple_results:
            return [x for x, _ in out], [d for _, d in out]
        return out

    return rule


def batch_values(
    f: Callable[..., Sequence[Any]], axis: Axis, args: Sequence[Any], dims: Sequence[int | None]
) -> list[Batched]:
    """Values of ``f`` (flat arguments, a sequence of results) over a mapped axis."""
    from dovetail_core import bound_axis, get_trace, run_under

    trace = carrier_of(axis).trace(get_trace())
    try:
        with bound_axis(axis.name, axis.size):
            outs = run_under(trace, f, *[trace.lift(v) for v in zip(args, dims)])
        return [trace.lower(x) for x in outs]
    finally:
        trace.ended = True
