"""The trace of ``vmap``: operations on values with a mapped axis."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, NoReturn

from dovetail_core import (
    AbstractValue,
    Cache,
    Carrier,
    ClosedJaxpr,
    HiType,
    LiftTrace,
    LiftTracer,
    Primitive,
    ShapedArray,
    Trace,
    algebra,
    bound_axis,
    derive,
    evaluation,
    get_trace,
    here,
    high_algebra,
    mutable_values,
    programs,
    rule_checks,
    run_under,
    set_trace,
    type_shardings,
    typeof,
)
from dovetail_xla.config import enable_x64_state

from .borrowing import borrow, outer_reference, read_outer, settle
from .branches import batch_operation, operation_p, run_branch
from .tables import BatchRule, axis_primitives, batch_rules

Batched = tuple[Any, Any]
"""A value and the position of its mapped axis, or None. For a value of a high type the position is
a spec that its type interprets."""


@dataclass(frozen=True)
class Axis:
    """A mapped axis: its length, its name (None: no collective can refer to it), its mesh axes, and
    the mesh axis over which types are sharded along it."""

    size: int
    name: Hashable = None
    spmd_name: Hashable = None
    explicit_mesh_axis: Hashable = None


_carriers: Cache[Axis, BatchCarrier] = Cache()
trace_makers: list[Callable[[Trace, BatchCarrier], BatchTrace | None]] = []
"""Called for each mapped function: return a trace that extends :class:`BatchTrace` (and records the
mapped axes of results, say), or None."""


def carrier_of(axis: Axis) -> BatchCarrier:
    """The carrier of an axis: one object per axis, so that cached lifted programs are reused."""
    result = _carriers.get(axis)
    if result is None:
        result = _carriers[axis] = BatchCarrier(axis)
    return result


class MappedAt(NamedTuple):
    """The structure of a mutable value that is not mapped along its first axis, which cannot be
    moved."""

    dim: int


class BatchCarrier(Carrier[Batched, Any]):
    """Lifted values are arrays with a mapped axis; their structure is True if they have one.

    The mapped axis of an operand of a sub-program comes first, after ``depth`` loop axes.
    """

    has_instances = True

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.key = ("batch", axis)

    def trace(self, parent: Trace) -> BatchTrace:
        for make in trace_makers:
            result = make(parent, self)
            if result is not None:
                return result
        return BatchTrace(parent, self)

    def pure(self, x: Any) -> Batched:
        return x, None

    def aval(self, value: Batched) -> AbstractValue:
        x, dim = value
        aval: Any = typeof(x)
        if dim is None:
            return aval
        if isinstance(aval, HiType):
            return aval.mapped(self.axis.size, dim)
        if aval.__class__ is ShapedArray:
            return aval.without_dimension(dim)
        return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])

    def structure(self, value: Batched, depth: int) -> Any:
        x, dim = value
        if dim is None or dim == depth or not typeof(x).is_mutable:
            return dim is not None
        if dim < depth:
            raise TypeError(
                f"{typeof(x).str_short()} is mapped along axis {dim}, and a loop{here()} goes "
                "along the next one and gives its slices to a function with rules of its own. Map "
                "it along a later axis (in_axes), or let the loop go through indices."
            )
        return MappedAt(dim - depth)

    def join_structures(self, a: Any, b: Any) -> Any:
        return a if a == b else bool(a or b)

    def types(self, aval: AbstractValue, structure: Any) -> tuple[AbstractValue, ...]:
        if not structure:
            return (aval,)
        if structure.__class__ is MappedAt:
            shape = list(aval.shape)  # type: ignore[attr-defined]
            shape.insert(structure.dim, self.axis.size)
            return (aval.update(shape=tuple(shape)),)  # type: ignore[attr-defined]
        if isinstance(aval, HiType):
            return (aval.unmapped(self.axis.size, aval.leading_spec()),)  # type: ignore
        size, kind = self.axis.size, aval.__class__
        if kind is ShapedArray:
            return (aval.with_dimension(0, size, self.axis.explicit_mesh_axis),)  # type: ignore
        return (aval.update(shape=(size, *aval.shape)),)  # type: ignore[attr-defined]

    def arrays(self, value: Batched, structure: Any, depth: int) -> tuple[Any, ...]:
        x, dim = value
        if not structure or dim == depth or structure.__class__ is MappedAt:
            return (x,)
        aval: Any = self.aval(value)
        if isinstance(aval, HiType):
            return (aval.remap(x, self.axis.size, dim, _leading(aval, depth)),)
        if dim is None:
            result = algebra().broadcast(x, self.axis.size, depth)
            if (name := self.axis.explicit_mesh_axis) is not None:
                wanted = aval.with_dimension(depth, self.axis.size, name)
                result = type_shardings.like_type(result, wanted, typeof(result))
            return (result,)
        return (algebra().move_axis(x, dim, depth),)

    def value(self, arrays: Sequence[Any], structure: Any, depth: int) -> Batched:
        x = arrays[0]
        if not structure:
            return x, None
        if structure.__class__ is MappedAt:
            return x, structure.dim + depth
        aval = typeof(x)
        return x, _leading(aval, depth) if isinstance(aval, HiType) else depth

    def branch(self, program: ClosedJaxpr, case: int) -> Callable[..., Sequence[Any]]:
        """The branch, with zero cotangents for elements that do not take it, unless collectives
        make its results depend on these elements."""
        if _concern(axes_of(program, combining=True), self.axis.name):
            return super().branch(program, case)
        return partial(run_branch, program, case)

    def collect(self, cotangent: Batched, structure: bool) -> Batched:
        x, dim = cotangent
        return cotangent if structure or dim is None else (algebra().sum(x, (dim,)), None)

    def known(self, value: Batched) -> Any:
        return value[0] if value[1] is None else None

    def may(self, predicate: Batched) -> Any:
        return algebra().any(predicate[0])

    def select(self, index: Batched, cases: Sequence[Batched]) -> Batched:
        """Elementwise over the mapped axis, which is moved to the front of the cases."""
        chosen = self.arrays(index, True, 0)[0]
        arrays = [self.arrays(c, True, 0)[0] for c in cases]
        aval: Any = typeof(arrays[0])
        if isinstance(aval, HiType):
            return high_algebra().pick(chosen, arrays), _leading(aval, 0)
        return algebra().pick(chosen, arrays), 0


def _leading(aval: Any, depth: int) -> Any:
    """The spec of a mapped axis that comes first, after ``depth`` loop axes."""
    return aval.leading_spec(depth) if depth else aval.leading_spec()


class BatchTracer(LiftTracer):
    """A value with a mapped axis, whose type is that of one element."""

    __slots__ = ()

    @property
    def val(self) -> Any:
        """The value with its mapped axis."""
        return self.value[0]

    @property
    def batch_dim(self) -> Any:
        """The position of the mapped axis."""
        return self.value[1]


class BatchTrace(LiftTrace[Batched]):
    """Runs operations on batched values by the rules of ``batching.batch``."""

    __slots__ = ("axis", "borrows", "borrow_dims")
    tracer = BatchTracer
    carrier: BatchCarrier
    what = function = "vmap"

    def __init__(self, parent: Trace, carrier: BatchCarrier) -> None:
        super().__init__(parent, carrier, batch_rules)
        self.axis = carrier.axis
        self.borrows: list[mutable_values.Borrow] = []
        self.borrow_dims: list[int] = []

    def lift(self, value: Batched) -> Any:
        x, dim = value
        if dim is None:
            return x
        aval = self.carrier.aval(value)
        return borrow(self, x, dim) if aval.is_mutable else BatchTracer(self, aval, value)

    def lower(self, x: Any) -> Batched:
        if x.__class__ is BatchTracer and x._trace is self:
            return x.value
        return outer_reference(self, x) if mutable_values.is_local(self, x) else (x, None)

    def stand_in_for(self, local: Any) -> BatchTracer:
        return BatchTracer(self, local.aval, outer_reference(self, local))

    def read_stand_in(self, local: Any) -> None:
        read_outer(self, local)

    def give_back(self) -> None:
        """Write the contents of local values to the values of the parent that they represent."""
        for b, dim in zip(self.borrows, self.borrow_dims):
            settle(self, b, dim)

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.stateful and self._is_local(primitive, args):
            return mutable_values.apply_local(self, primitive, args, params)
        values, dims, lifted = list[Any](), list[int | None](), False
        for x in args:
            if x.__class__ is BatchTracer and x._trace is self:
                value, dim = x.value
                values.append(value)
                dims.append(dim)
                lifted = True
            else:
                values.append(x)
                dims.append(None)
        if not lifted and not self._concerns_axis(primitive, params):
            return self.parent.process(primitive, args, params)
        rule = batch_rules.rules.get(primitive) or batch_rules.miss(primitive)
        outer = get_trace()
        try:
            set_trace(self.parent)
            result = rule(self.axis, values, dims, **params)
        except Exception as e:
            again = partial(self._with_inferred_shardings, rule, primitive, values, dims, params)
            result = batch_rules.after(e, values, again, primitive, args, params)
        finally:
            set_trace(outer)
        try:
            out, dim = result
        except (TypeError, ValueError):
            out, dim = self._by_fallback(primitive, result, values, dims, params)
        if primitive.multiple_results:
            rule_checks.check_count(batch_rules, primitive, out, None, "result")
            rule_checks.check_count(batch_rules, primitive, dim, len(out), "result")
            return [x if d is None else self.checked(primitive, x, d) for x, d in zip(out, dim)]
        return out if dim is None else self.checked(primitive, out, dim)

    def _is_local(self, primitive: Primitive, args: tuple[Any, ...]) -> bool:
        """True if an operation reads or writes a mutable value of this trace."""
        if self.borrows:
            mutable_values.check_borrowed(self.borrows, args, "vmap")
        return mutable_values.uses_local(self, primitive, args)

    def _with_inferred_shardings(
        self, rule: BatchRule, primitive: Primitive, values: Any, dims: Any, params: dict[str, Any]
    ) -> Any:
        """The result of a rule on values without shardings, with those of the operation's types.

        Used when operations of the rule have ambiguous shardings and the operation on one element
        has not.
        """
        elements = tuple([self.carrier.aval(v) for v in zip(values, dims)])
        avals: Any = primitive.infer(elements, params).avals
        result, axes = rule(self.axis, type_shardings.without_shardings(values), dims, **params)
        if not primitive.multiple_results:
            result, axes = [result], [axes]
        outs = list[Any]()
        for x, d, a in zip(result, axes, avals):
            size, name = self.axis.size, self.axis.explicit_mesh_axis
            wanted = a if d is None else a.with_dimension(d, size, name)
            outs.append(type_shardings.like_type(x, wanted, typeof(x)))
        return (outs, axes) if primitive.multiple_results else (outs[0], axes[0])

    def _by_fallback(
        self, primitive: Primitive, result: Any, values: Any, dims: Any, params: dict[str, Any]
    ) -> Any:
        """The pair of the derived rule if a rule returned NotImplemented; else raise TypeError."""
        if result is not NotImplemented:
            refuse_result_pair(primitive, result)
        rule = batch_rules.fallback(primitive)
        return run_under(self.parent, rule, self.axis, values, dims, **params)

    def checked(self, primitive: Primitive, x: Any, dim: Any) -> BatchTracer:
        """The tracer of a mapped value that a rule returned.

        Raises:
            TypeError: it has no mapped axis at ``dim``.
        """
        size = self.axis.size
        try:
            aval: Any = typeof(x)
            fits = isinstance(aval, HiType) or (dim >= 0 and aval.shape[dim] == size)
        except (TypeError, IndexError):  # x is not a value, or dim not an integer
            fits = False
        if not fits:
            refuse_axis(primitive, x, dim, size)
        if isinstance(aval, HiType):
            return BatchTracer(self, aval.mapped(size, dim), (x, dim))
        if aval.divided is not None:
            return BatchTracer(self, aval.without_dimension(dim), (x, dim))
        shape = aval.shape
        rest = shape[:dim] + shape[dim + 1 :]
        element = ShapedArray(rest, aval.dtype, aval.weak_type, vma=aval.vma)
        return BatchTracer(self, element, (x, dim))

    def _concerns_axis(self, primitive: Primitive, params: dict[str, Any]) -> bool:
        """True if an operation depends on this axis even if no operand is batched, as collectives
        over it do."""
        if primitive in axis_primitives:
            return True
        name = self.axis.name
        named = primitive.traits.names_axes
        if named is not None:
            return name is not None and name in named(params)
        if name is None and not axis_primitives:
            return False
        return any(_concern(axes_of(p), name) for p in programs_of(params))


def refuse_result_pair(primitive: Primitive, result: Any) -> NoReturn:
    """Raise TypeError: a batch rule did not return a pair."""
    wanted = "it must return a pair (result, position of its mapped axis)"
    rule_checks.raise_wrong_result(
        batch_rules, primitive, rule_checks.describe_result(result), wanted
    )


def refuse_axis(primitive: Primitive, x: Any, dim: Any, size: int) -> NoReturn:
    """Raise TypeError: a batch rule returned a value without a mapped axis at ``dim``."""
    got = rule_checks.type_of_result(batch_rules, primitive, x, "a result").str_short()
    wanted = f"that must be the position, from the front, of an axis of length {size}, or None"
    rule_checks.raise_wrong_result(
        batch_rules, primitive, f"{dim!r} as the mapped axis of a {got}", wanted
    )


def programs_of(params: dict[str, Any]) -> list[ClosedJaxpr]:
    """The programs among an operation's parameters."""
    result = programs.subprograms(params) if params else ()
    return [p for p in result if isinstance(p, ClosedJaxpr)]


def axes_of(program: ClosedJaxpr, combining: bool = False) -> frozenset[Hashable]:
    """The names of axes in collectives of a program, and its :data:`axis_primitives`.

    With ``combining`` only those of operations that combine elements, not of ``axis_index``. Cached
    with the program.
    """
    key = "axes", len(axis_primitives), combining
    return program.memo(key, lambda: frozenset(_axes_in(program, combining)))


def _concern(axes: frozenset[Hashable], name: Hashable) -> bool:
    return (name is not None and name in axes) or not axis_primitives.isdisjoint(axes)


def _axes_in(program: ClosedJaxpr, combining: bool) -> Iterator[Hashable]:
    for eqn in program.eqns:
        named = eqn.primitive.traits.names_axes
        if named is not None:
            yield from named(eqn.params) if eqn.invars or not combining else ()
        elif eqn.primitive in axis_primitives:
            yield eqn.primitive
        else:
            for inner in programs_of(eqn.params):
                yield from axes_of(inner, combining)


@batch_rules.register(operation_p)
def _operation(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, *, program: Any, cases: Any
) -> tuple[Any, Any]:
    result = batch_operation(carrier_of(axis), program, cases, args, dims)
    return [x for x, _ in result], [d for _, d in result]


@batch_rules.deriver
def derive_batch(primitive: Primitive) -> BatchRule | None:
    """The rule that follows from a primitive's regions or decomposition."""
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
    trace = carrier_of(axis).trace(get_trace())
    try:
        inputs = [trace.lift((_read(x, d), d)) for x, d in zip(args, dims)]
        if axis.name is None:
            outs = run_under(trace, f, *inputs)
        else:
            outs = bound_axis(axis.name, axis.size).run(run_under, trace, f, *inputs)
        result = [trace.lower(x) for x in outs]
        trace.give_back()
        return result
    finally:
        trace.ended = True


def _read(x: Any, dim: Any) -> Any:
    """A mapped argument, typed by the current mode of 64-bit types."""
    if dim is None or typeof(x).is_mutable:  # an argument that is not mapped may be any value
        return x
    return evaluation.array_of_number(x, enable_x64_state.value)
