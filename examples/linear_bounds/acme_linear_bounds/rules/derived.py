"""Rules that follow from traits: what is linear with known signs, and what is monotone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from dovetail_batching import vmap
from dovetail_core import (
    MissingRule,
    Primitive,
    algebra,
    current_source,
    derive,
    describe_source,
    is_inexact,
    typeof,
)

from ..bounds import Affine, Bounds, BoundsCarrier, affine_rules

Args = Sequence[Bounds]
Params = dict[str, Any]


def uncertain(args: Args) -> list[int]:
    """The operands that are not known."""
    return [i for i, a in enumerate(args) if not a.known]


def is_real(value: Bounds) -> bool:
    """Whether a value has affine bounds, where it is not known."""
    aval: Any = typeof(value.low)
    return is_inexact(aval.dtype)


def apply(primitive: Primitive, operands: Sequence[Any], params: Params) -> list[Any]:
    """The results of a primitive, as a list."""
    out = primitive.bind(*operands, **params)
    return list(out) if primitive.multiple_results else [out]


def ends(primitive: Primitive, args: Args, params: Params, signs: str) -> list[list[Any]]:
    """The results at both ends, of what is monotone: it rises (+) or falls (-) per operand."""
    return [
        apply(primitive, [a[(s == "-") != upper] for a, s in zip(args, signs)], params)
        for upper in (False, True)
    ]


def monotone(
    carrier: BoundsCarrier, primitive: Primitive, args: Args, params: Params, signs: str
) -> Any:
    """Numbers from numbers: bounds of what is monotone in all operands that are not known."""
    low, high = ends(primitive, args, params, signs)
    outs = [carrier.bounds(a, b) for a, b in zip(low, high)]
    return outs if primitive.multiple_results else outs[0]


def linear(
    carrier: BoundsCarrier,
    primitive: Primitive,
    args: Args,
    params: Params,
    signs: str,
    group: Sequence[int],
) -> Any:
    """Itself, applied to slopes and to offsets, of what is linear with coefficients of one sign."""
    lifted = uncertain(args)
    lines: list[list[Affine]] = []
    for upper in (-1, 1):
        given = {i: carrier.affine(args[i], -upper if signs[i] == "-" else upper) for i in lifted}
        offsets = [given[i].offset if i in given else a.low for i, a in enumerate(args)]
        zeroed = [
            algebra().full(carrier.aval(a), 0) if i in group else a.low for i, a in enumerate(args)
        ]

        def tilt(*slopes: Any, zeroed: list[Any] = zeroed) -> Any:
            operands = dict(enumerate(zeroed)) | dict(zip(lifted, slopes))
            return apply(primitive, list(operands.values()), params)

        slopes = vmap(tilt, in_axes=-1, out_axes=-1)(*(line.slope for line in given.values()))
        lines.append([Affine(s, b) for s, b in zip(slopes, apply(primitive, offsets, params))])
    numbers = ends(primitive, args, params, signs)
    outs = [carrier.bounds(*four) for four in zip(*numbers, *lines)]
    return outs if primitive.multiple_results else outs[0]


@affine_rules.deriver
def by_traits(primitive: Primitive) -> Callable[..., Any] | None:
    """The rule of a primitive that says enough of itself, else None."""
    traits, further = primitive.traits, derive(primitive)
    if primitive.lift is not None or primitive.regions is not None or not traits.monotone:
        return further

    def rule(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
        lifted = uncertain(args)
        signs = "".join(traits.direction(i) for i in range(len(args)))
        if all(signs[i] in "+-" for i in lifted):
            group = traits.linear_in(lifted, len(args), params)
            if group is not None and all(is_real(args[i]) for i in lifted):
                return linear(carrier, primitive, args, params, signs, group)
            if further is not None:  # its parts may have lines; by itself it has numbers alone
                with suppress(MissingRule):
                    return further(carrier, args, params)
            return monotone(carrier, primitive, args, params, signs)
        if further is not None:
            return further(carrier, args, params)
        raise MissingRule(
            f"linear_bounds knows no bounds of {primitive.name!r} where operands {lifted} are not "
            f"known{describe_source(current_source())}. Register a rule of 'linear_bounds.affine' "
            "for such operands."
        )

    return rule
