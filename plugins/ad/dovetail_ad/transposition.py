"""Transposition: running a linear program backwards, from cotangents of results to those of inputs.

Devices of a mesh may have cotangents in part. The cotangent of a broadcast result is larger than
that of the operand, so devices do not exchange the former: each computes the latter from its own
part, and these are summed (:class:`DeferredSums`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from typing import Any, Protocol

from dovetail_base.naming import transformed
from dovetail_base.source import backward, get_override, get_scope, run_at, set_override
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    MissingRule,
    Primitive,
    ShardingTypeError,
    add_tangents,
    generation,
    get_trace,
    match_cotangent,
    rule_checks,
    run_under,
    stage_closed,
    type_shardings,
    typeof,
)

from .linear import LinearInput, LinearTrace, checked, is_linear, run_linear
from .tables import TransposeRule, transpose_rules
from .tangents import same_type, transposed_type


class DeferredSums:
    """Cotangents of one backward pass whose sum over devices is deferred.

    Args:
        record: the equations that are still to be transposed.
    """

    __slots__ = ("_broadcast", "_record", "deferred")

    def __init__(self, record: Sequence[Any]) -> None:
        self._record = record
        self._broadcast: set[int] | None = None
        self.deferred: set[int] = set()

    def match_cotangent(self, ct: Any, x: LinearInput, cts: Sequence[Any]) -> Any:
        """A cotangent of the type of ``x``; unchanged if its sum over devices can be deferred."""
        aval: Any = x.aval
        if not aval.is_high and cts[x.index] is None and self._can_defer(typeof(ct), aval, x.index):
            self.deferred.add(x.index)
            return ct
        return match_cotangent(ct, aval)

    def settle(self, x: LinearInput, cts: list[Any]) -> None:
        """Convert a deferred cotangent to its type, before another is added to it."""
        if x.index in self.deferred:
            self.deferred.discard(x.index)
            cts[x.index] = match_cotangent(cts[x.index], x.aval)

    def _can_defer(self, now: Any, aval: Any, index: int) -> bool:
        if not now.vma - aval.vma and now.divided is aval.divided:
            return False
        if any(d.spec.unreduced or d.spec.reduced for d in (now.divided, aval.divided) if d):
            return False
        if self._broadcast is None:
            self._broadcast = {
                outs[0].index
                for primitive, _, _, outs, _ in self._record
                if primitive.traits.shrinks_back
            }
        return index in self._broadcast


class Accumulator(Protocol):
    """Collects the cotangent of one value, piece by piece: a reference, say."""

    def accum(self, cotangent: Any) -> None:
        """Add a cotangent of the value's cotangent type."""
        ...


def backward_pass(
    trace: LinearTrace,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    accumulators: Sequence[Accumulator | None] | None = None,
    scope: str | None = None,
) -> list[Any]:
    """Cotangents of ``inputs`` given those of ``outputs``; None stands for zero on both sides.

    Args:
        accumulators: per input None, or an accumulator to which the terms of its cotangent are
            added as they are computed; the result has None for such an input.
        scope: the scope of the operations, by default those of the transposed ones.
    """
    cts: list[Any] = [None] * trace.count
    trace.transposed = True
    for x, accumulator in zip(inputs, accumulators or ()):
        if accumulator is not None:
            cts[x.index] = _Accumulated(accumulator)
    for x, ct in zip(outputs, cotangents):
        if ct is not None and trace.owns(x):
            _accumulate(cts, x.index, match_cotangent(ct, x.aval))
    reached: set[int] = set()
    if trace.pulls_zeros:
        reached.update(
            x.index for x, ct in zip(outputs, cotangents) if ct is not None and trace.owns(x)
        )
    scopes = ("", "") if scope is None else (trace.scope, scope)
    run_at(get_override(), _transpose, trace, cts, {x.index for x in inputs}, reached, scopes)
    result = [cts[x.index] for x in inputs]
    return (
        [None if ct.__class__ is _Accumulated else ct for ct in result] if accumulators else result
    )


def backward_scope() -> str:
    """The scope of operations of a backward pass that is requested in the current scope."""
    return transformed(get_scope(), "transpose")


def _transpose(
    trace: LinearTrace,
    cts: list[Any],
    kept: set[int],
    reached: set[int],
    scopes: tuple[str, str],
) -> None:
    """Transpose the equations from the last to the first, each at its own source line.

    The first of ``scopes`` is replaced by the second. ``reached`` collects the unknowns on which
    outputs depend; it is empty unless an equation has the trait ``pulls_zeros``.
    """
    rules, record = transpose_rules.rules, trace.take()
    sums = DeferredSums(record)
    while record:
        primitive, args, params, outs, source = record.pop()  # which frees its residuals
        if primitive.multiple_results:
            given: Any = [_take(cts, t.index, kept) for t in outs]
            if all(ct is None for ct in given) and not (
                reached and _pulls_zeros(trace, primitive, args, outs, reached)
            ):
                continue
        else:
            given = _take(cts, outs[0].index, kept)
            if given is None:
                if reached and outs[0].index in reached:
                    _reach(trace, args, reached)
                continue
        if reached:
            _reach(trace, args, reached)
        set_override(backward(source, *scopes))
        try:
            rule = rules.get(primitive) or _find(primitive)
            try:
                result = rule(given, *args, **params)
            except Exception as e:
                result = _retry_ambiguous(e, rule, given, args, params)
            _accumulate_results(cts, trace, primitive, args, result, sums)
        except Exception as e:
            transpose_rules.blame(primitive, args, params, e)
            raise


def _reach(trace: LinearTrace, args: Sequence[Any], reached: set[int]) -> None:
    reached.update([x.index for x in args if x.__class__ is LinearInput and x._trace is trace])


def _pulls_zeros(
    trace: LinearTrace, primitive: Primitive, args: Any, outs: Any, reached: set[int]
) -> bool:
    """True if an equation is transposed although all its cotangents are zero."""
    if not any(t.index in reached for t in outs):
        return False
    _reach(trace, args, reached)
    return primitive.traits.pulls_zeros


def _retry_ambiguous(
    error: Exception, rule: TransposeRule, given: Any, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Apply a rule again after an error about ambiguous shardings, without shardings of values.

    The cotangents that it returns get the shardings of their operands' types.
    """
    many = isinstance(given, list)
    known = [x for x in args if not is_linear(x)]
    if not type_shardings.is_ambiguous(error, [*known, *(given if many else [given])]):
        raise error
    if left := _unreduced_axes(error, args):
        with suppress(ShardingTypeError):
            return type_shardings.sharding_provider().leaving_unreduced(
                left, rule, given, *args, **params
            )
    cotangents = (
        type_shardings.without_shardings(given)
        if many
        else type_shardings.without_shardings([given])[0]
    )
    rest = [x if is_linear(x) else type_shardings.without_shardings((x,))[0] for x in args]
    return rule(cotangents, *rest, **params)


def _unreduced_axes(error: Exception, args: Sequence[Any]) -> Set[Any]:
    """The axes over which cotangents of ``args`` are not reduced; empty unless the ambiguity that
    ``error`` reports is about a sum along these."""
    along: frozenset[Any] = getattr(error, "along", frozenset())
    wanted = [type_shardings.unreduced_axes(x.aval.cotangent_type()) for x in args if is_linear(x)]
    left = frozenset().union(*wanted)
    return left if left <= along else frozenset()


def _accumulate_results(
    cts: list[Any],
    trace: LinearTrace,
    primitive: Primitive,
    args: Sequence[Any],
    results: Any,
    sums: DeferredSums,
) -> None:
    """Add the results of a rule to the cotangents of its operands, checked against their types."""
    if results.__class__ is not list or len(results) != len(args):
        rule_checks.check_count(transpose_rules, primitive, results, len(args), "operand")
    for x, ct in zip(args, results):
        if ct is not None and x.__class__ is LinearInput and x._trace is trace:
            aval = x.aval
            try:
                fits = typeof(ct) is aval and not aval.is_high
            except TypeError:  # it is no value
                fits = False
            if not fits:
                check_cotangent(primitive, args, x, ct)
                ct = sums.match_cotangent(ct, x, cts)
            before = cts[x.index]
            if before is None:
                cts[x.index] = ct
            else:
                if sums.deferred:
                    sums.settle(x, cts)
                _accumulate(cts, x.index, ct)


def transposed_call(
    f: Callable[..., Sequence[Any]],
    avals: Sequence[AbstractValue],
    cotangents: Sequence[Any],
    accumulators: Sequence[Any] | None = None,
    *,
    scope: str | None = None,
) -> list[Any]:
    """The transpose of a linear function, applied: see :func:`backward_pass`.

    Args:
        f: takes one value per type in ``avals`` and returns a sequence of results, with None for
            zeros. It is called once, on linear unknowns.
    """
    trace = LinearTrace(get_trace())
    unknown = [trace.unknown(a) for a in avals]
    outs = run_under(trace, f, *unknown)
    trace.ended = True  # a rule that is not linear uses the unknowns again, which raises
    return backward_pass(trace, unknown, outs, cotangents, accumulators, scope)


def at_own_lines(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, where operations of a program keep their own source lines.

    Otherwise they would have the line of the operation that holds the program.
    """
    return run_at(None, f, *args)


class _Accumulated:
    """Marks, in the list of cotangents, one that an accumulator collects."""

    __slots__ = ("accumulator",)

    def __init__(self, accumulator: Accumulator) -> None:
        self.accumulator = accumulator


def _take(cts: list[Any], index: int, kept: set[int]) -> Any:
    ct = cts[index]
    if index not in kept:
        cts[index] = None  # an intermediate cotangent is dead once its operation is transposed
    return ct


def _accumulate(cts: list[Any], index: int, ct: Any) -> None:
    before = cts[index]
    if before.__class__ is _Accumulated:
        before.accumulator.accum(ct)
    else:
        cts[index] = ct if before is None else add_tangents(before, ct)


def _find(primitive: Primitive) -> TransposeRule:
    try:
        return transpose_rules.miss(primitive)
    except MissingRule as e:
        raise MissingRule(
            f"{e} If {primitive.name!r} is not linear in that operand, the function that is being "
            "transposed is not linear."
        ) from None


def derive_transpose(primitive: Primitive) -> TransposeRule | None:
    """Transpose an operation by transposing its decomposition."""
    decomposition = primitive.decomposition
    if decomposition is None:
        return None

    def rule(cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]:
        live = [is_linear(x) for x in args]
        single = not primitive.multiple_results

        def of_unknowns(*unknown: Any) -> Sequence[Any]:
            rest = iter(unknown)
            outs = decomposition(
                *[next(rest) if use else x for x, use in zip(args, live)], **params
            )
            return [outs] if single else outs

        types = [x.aval for x, use in zip(args, live) if use]
        try:
            result = iter(transposed_call(of_unknowns, types, [cotangent] if single else cotangent))
        except MissingRule as e:
            raise e.used_by(primitive) from None
        return [next(result) if use else None for use in live]

    return rule


def transpose_program(
    program: ClosedJaxpr, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """The transpose of a program that is linear in the inputs marked in ``linear``.

    The transposed program takes the other inputs, then a cotangent for each output marked in
    ``given``, and returns the nonzero cotangents of the linear inputs; the second result marks the
    linear inputs that have one. Cached with the program.
    """
    key = ("transpose", linear, given, generation.value)
    return program.memo(key, lambda: _transpose_program(program, linear, given))


def _transpose_program(
    program: ClosedJaxpr, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    avals = program.in_avals
    known = [a for a, live in zip(avals, linear) if not live]
    ct_avals = [transposed_type(a) for a, g in zip(program.out_avals, given) if g]
    nonzero: list[bool] = []

    def transposed(*args: Any) -> list[Any]:
        values, cts = iter(args[: len(known)]), iter(args[len(known) :])

        def of_unknowns(*unknown: Any) -> list[Any]:
            rest = iter(unknown)
            ins = [next(rest) if live else next(values) for live in linear]
            return run_linear(get_trace(), program, *ins)  # type: ignore[arg-type]

        types = [a for a, live in zip(avals, linear) if live]
        wanted = [next(cts) if g else None for g in given]
        result = at_own_lines(transposed_call, of_unknowns, types, wanted)
        nonzero[:] = [ct is not None for ct in result]
        return [ct for ct in result if ct is not None]

    name = f"transpose_{program.jaxpr.name}" if program.jaxpr.name else ""
    result = stage_closed(transposed, [*known, *ct_avals], name)
    return checked(result, "transposition"), tuple(nonzero)


def check_cotangent(primitive: Primitive, args: Sequence[Any], x: Any, cotangent: Any) -> None:
    """Raise TypeError unless the cotangent of ``x``, one of ``args``, is of its cotangent type."""
    index, aval = next(i for i, a in enumerate(args) if a is x), x.aval
    what = f"the cotangent of operand {index}"
    got, want = (
        rule_checks.type_of_result(transpose_rules, primitive, cotangent, what),
        transposed_type(aval),
    )
    if not same_type(got, want):
        rule_checks.raise_wrong_result(
            transpose_rules,
            primitive,
            f"a cotangent of type {got.str_short()} for operand {index} of type {aval.str_short()}",
            f"cotangents of that are of type {want.str_short()}",
        )
