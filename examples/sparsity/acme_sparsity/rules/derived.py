"""Rules that follow from what a primitive says of itself: its regions, traits, decomposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_ad import jvp
from dovetail_core import Primitive, derive, is_inexact, lift_call

from ..pattern import PatternCarrier, pattern_rules
from .kinds import Args, Params, applied, counted, elementwise, everything, varying


@pattern_rules.deriver
def by_traits(primitive: Primitive) -> Callable[..., Any]:
    """The rule of any primitive: sound for all, and exact where traits tell enough."""
    if primitive.anonymous and "ad.jvp" in (primitive.rules or {}):
        return _of_the_derivative(primitive)
    if primitive.lift is not None or primitive.regions is not None:
        found = derive(primitive)
        assert found is not None
        return found
    if primitive.traits.effect_only:
        return lambda carrier, args, params: []  # what is traced has no effect
    decomposed = derive(primitive)

    def rule(carrier: PatternCarrier, args: Args, params: Params) -> Any:
        traits, lifted = primitive.traits, varying(args)
        group = traits.linear_in(lifted, len(args), params)
        if group is not None and all(traits.direction(i) == "+" for i in lifted):
            return applied(counted, carrier, primitive, args, params)
        if traits.elementwise:
            return applied(elementwise, carrier, primitive, args, params)
        if decomposed is not None:
            return decomposed(carrier, args, params)
        return applied(everything, carrier, primitive, args, params)

    return rule


def _of_the_derivative(primitive: Primitive) -> Callable[..., Any]:
    """The rule of a function with a derivative of its author's, which may depend on more than the
    function does: that of its tangents, on tangents with the masks of the operands."""

    of_the_body = derive(primitive)
    assert of_the_body is not None

    def rule(carrier: PatternCarrier, args: Args, params: Params) -> Any:
        if carrier.is_linear:
            return of_the_body(carrier, args, params)
        lifted = [i for i in varying(args) if is_inexact(args[i].aval.dtype)]

        def tangents(*xs: Any) -> Any:
            values, given = list(xs[: len(args)]), xs[len(args) :]

            def f(*some: Any) -> Any:
                for i, x in zip(lifted, some):
                    values[i] = x
                return primitive.bind(*values, **params)

            return jvp(f, [values[i] for i in lifted], list(given))[1]

        primals = [a._replace(mask=carrier.empty(a.aval)) if a.array is None else a for a in args]
        outs = lift_call(
            PatternCarrier(carrier.n, True), tangents, [*primals, *(args[i] for i in lifted)]
        )
        found = outs if primitive.multiple_results else [outs]
        return applied(
            lambda *_: [carrier.mask(y) for y in found], carrier, primitive, args, params
        )

    return rule
