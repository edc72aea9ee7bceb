"""``jax.interpreters.ad``: registries of derivative rules, and what fills them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    is_linear,
    jvp_rules,
    jvp_values,
    linearize_flat,
    transpose_rules,
    transposed_type,
)
from dovetail_core import Primitive, get_trace, typeof

from .views import Rule, RuleView
from .zeros import (
    UndefinedPrimal,
    Zero,
    add_tangents,
    author_tangent,
    engine_tangent,
    instantiate_zeros,
    is_undefined_primal,
    is_zero,
)


def _adopt_jvp(primitive: Primitive, rule: Rule) -> Rule:
    def adopted(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        given = tuple(map(author_tangent, tangents, primals))
        out, tangent = rule(tuple(primals), given, **params)
        if primitive.multiple_results:
            return list(out), list(map(engine_tangent, tangent))
        return out, engine_tangent(tangent)

    return adopted


def _present_jvp(primitive: Primitive, rule: Rule) -> Rule:
    def presented(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        given = list(map(engine_tangent, tangents))
        if all(t is None for t in given):
            out = primitive.bind(*primals, **params)
            tangent: Any = [None] * len(out) if primitive.multiple_results else None
        else:
            result = rule(list(primals), given, **params)
            if result is NotImplemented:
                result = jvp_rules.fallback(primitive)(list(primals), given, **params)
            out, tangent = result
        if primitive.multiple_results:
            return out, list(map(author_tangent, tangent, out))
        return out, author_tangent(tangent, out)

    return presented


primitive_jvps = RuleView(jvp_rules, _adopt_jvp, _present_jvp)
"""``rule(primals, tangents, **params)`` returns results and tangents; zeros are ``Zero``."""


def _adopt_transpose(primitive: Primitive, rule: Rule) -> Rule:
    def adopted(cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]:
        if primitive.multiple_results:
            types = _result_types(primitive, args, params)
            cotangent = [Zero(a) if c is None else c for c, a in zip(cotangent, types)]
        given = [UndefinedPrimal(x.aval) if is_linear(x) else x for x in args]
        result = rule(cotangent, *given, **params)
        if is_zero(result):
            return [None] * len(args)
        return list(map(engine_tangent, result))

    return adopted


def _result_types(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    avals = tuple([typeof(x) for x in args])
    return [transposed_type(a) for a in primitive.infer(avals, params).avals]


def _present_transpose(primitive: Primitive, rule: Rule) -> Rule:
    def presented(cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]:
        trace = LinearTrace(get_trace())
        trace.transposed = True
        ours = [trace.unknown(x.aval) if is_undefined_primal(x) else x for x in args]
        if primitive.multiple_results:
            cotangent = list(map(engine_tangent, cotangent))
        elif is_zero(cotangent):
            return [_zero_of(x) for x in args]
        result = rule(cotangent, *ours, **params)
        return [_zero_of(x) if ct is None else ct for x, ct in zip(args, result)]

    return presented


def _zero_of(x: Any) -> Any:
    return Zero(transposed_type(x.aval)) if is_undefined_primal(x) else None


primitive_transposes = RuleView(transpose_rules, _adopt_transpose, _present_transpose)
"""``rule(cotangent, *args, **params)``, in which linear operands are ``UndefinedPrimal``, returns a
cotangent for each operand: ``Zero`` or None where there is none."""


def get_primitive_transpose(p: Primitive) -> Rule:
    """The transposition rule of a primitive.

    Raises:
        NotImplementedError: it has none.
    """
    try:
        return primitive_transposes[p]
    except KeyError:
        raise NotImplementedError(
            f"transposition rule (for reverse-mode differentiation) for {p.name!r} not implemented"
        ) from None


def jvp(
    fun: Callable[..., Any],
    primals: Any,
    tangents: Any,
    has_aux: bool = False,
    instantiate: bool = True,
    transform_stack: bool = True,
) -> Any:
    """Values and tangents of a function of flat arguments that returns a list, or, with
    ``has_aux``, a pair of a list and something else.

    Args:
        tangents: one per primal; ``Zero`` or None where it is zero.
        instantiate: whether tangents that are zero are returned as values, not as ``Zero``.

    Returns: ``(values, tangents)`` or ``(values, tangents, aux)``.
    """
    run = getattr(fun, "call_wrapped", fun)
    aux: list[Any] = []

    def flat(*xs: Any) -> Sequence[Any]:
        outs = run(*xs)
        if has_aux:
            outs, more = outs
            aux.append(more)
        return outs

    outs, out_tangents = jvp_values(flat, list(primals), list(map(engine_tangent, tangents)))
    shown = [author_tangent(t, x) for t, x in zip(out_tangents, outs)]
    if instantiate:
        shown = list(map(instantiate_zeros, shown))
    return (outs, shown, aux[0]) if has_aux else (outs, shown)


def linearize(
    traceable: Callable[..., Any], primals: Any, has_aux: bool = False, is_vjp: bool = False
) -> Any:
    """Values of a function of flat arguments that returns a list, and the linear function from
    tangents of the arguments (None for zeros) to those of the results.

    Returns: ``(values, f_jvp)``, or ``(values, f_jvp, aux)`` with ``has_aux``.
    """
    run = getattr(traceable, "call_wrapped", traceable)
    aux: list[Any] = []

    def flat(*xs: Any) -> Sequence[Any]:
        outs = run(*xs)
        if has_aux:
            outs, more = outs
            aux.append(more)
        return outs

    outs, linear = linearize_flat(flat, list(primals))

    def f_jvp(*tangents: Any) -> list[Any]:
        result = linear.apply(list(map(engine_tangent, tangents)))
        return [instantiate_zeros(author_tangent(t, x)) for t, x in zip(result, outs)]

    return (outs, f_jvp, aux[0]) if has_aux else (outs, f_jvp)


def deflinear(primitive: Primitive, transpose_rule: Rule) -> None:
    """Say that an operation is linear in all operands together; ``transpose_rule(cotangent,
    **params)`` returns a cotangent for each of them."""
    deflinear2(primitive, lambda cotangent, *args, **params: transpose_rule(cotangent, **params))


def deflinear2(primitive: Primitive, transpose_rule: Rule) -> None:
    """:func:`deflinear` for a rule that also gets the operands."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            if primitive.multiple_results:
                return out, list(map(Zero.from_primal_value, out))
            return out, Zero.from_primal_value(out)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    def transpose(cotangent: Any, *args: Any, **params: Any) -> Any:
        if is_zero(cotangent):
            return [_zero_of(x) for x in args]
        return transpose_rule(cotangent, *args, **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transpose


def defjvp(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Set the derivative of an operation with one result as a sum: a rule ``rule(tangent, *primals,
    **params)`` per operand, or None where the result does not depend on it smoothly."""
    defjvp2(primitive, *[None if r is None else _without_result(r) for r in jvprules])


def _without_result(rule: Rule) -> Rule:
    return lambda tangent, result, *primals, **params: rule(tangent, *primals, **params)


def defjvp2(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """:func:`defjvp` for rules ``rule(tangent, result, *primals, **params)``."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        out = primitive.bind(*primals, **params)
        total: Any = Zero.from_primal_value(out)
        for rule, tangent in zip(jvprules, tangents):
            if rule is not None and type(tangent) is not Zero:
                total = add_tangents(total, rule(tangent, out, *primals, **params))
        return out, total

    primitive_jvps[primitive] = jvp


def defbilinear(primitive: Primitive, lhs_rule: Rule, rhs_rule: Rule) -> None:
    """Say that an operation is linear in each of two operands; ``lhs_rule(cotangent, x, y,
    **params)`` returns the cotangent of ``x``, ``rhs_rule`` that of ``y``."""
    defjvp(
        primitive,
        lambda g, x, y, **params: primitive.bind(g, y, **params),
        lambda g, x, y, **params: primitive.bind(x, g, **params),
    )

    def transpose(cotangent: Any, x: Any, y: Any, **params: Any) -> Any:
        if is_undefined_primal(x) and is_undefined_primal(y):
            raise TypeError(f"{primitive.name} is linear in each operand alone, not in both")
        side = is_undefined_primal(x)
        if is_zero(cotangent):
            return [_zero_of(x), _zero_of(y)]
        result = (lhs_rule if side else rhs_rule)(cotangent, x, y, **params)
        return [result, None] if side else [None, result]

    primitive_transposes[primitive] = transpose
