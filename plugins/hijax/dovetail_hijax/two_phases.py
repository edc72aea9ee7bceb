"""The row ``hi_jvp``: value and tangent of an operation that says itself how it is linearized.

Whether its tangents are known (forward mode) or linear unknowns (reverse mode) shows only when the
operation is evaluated or split, perhaps long after it was traced. So ``ad.jvp`` makes one equation
of it, which is evaluated by the operation's rule for forward mode, and split by that for reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_ad import LinearTrace
from dovetail_core import Primitive, run_under, typeof
from dovetail_core.types.algebra import zeros

from .zeros import differentiable

Linear = Callable[..., Sequence[Any]]


class TwoPhases(Protocol):
    """What the row asks of an operation; hashable. Results are lists, None is a zero tangent."""

    @property
    def row(self) -> Primitive:
        """The operation's own row."""
        ...

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Values and tangents."""
        ...

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Linear]:
        """Values, and the linear function from all tangents to the results' tangents."""
        ...


hi_jvp_p = Primitive("hi_jvp", multiple_results=True)
hi_jvp_p.is_high = lambda **params: True


def apply_in_two_phases(
    rule: TwoPhases, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> tuple[Any, Any]:
    """The rule of ``ad.jvp`` of an operation that can be split."""
    nonzero = tuple(t is not None for t in tangents)
    given = [t for t in tangents if t is not None]
    found = hi_jvp_p.bind(
        *primals, *given, rule=rule, nonzero=nonzero, params=tuple(params.items())
    )
    n = len(rule.row.infer(tuple([typeof(p) for p in primals]), params).avals)
    rest = iter(found[n:])
    outs = found[:n]
    ts = [next(rest) if differentiable(typeof(x)) else None for x in outs]
    return (outs, ts) if rule.row.multiple_results else (outs[0], ts[0])


@hi_jvp_p.def_effectful_abstract_eval
def _type(*avals: Any, rule: TwoPhases, nonzero: tuple[bool, ...], params: Any) -> Any:
    found = rule.row.infer(avals[: len(nonzero)], dict(params))
    tangents = [a.tangent_type() for a in found.avals if differentiable(a)]
    return [*found.avals, *tangents], found.effects


@hi_jvp_p.def_decomposition
def _forward(*args: Any, rule: TwoPhases, nonzero: tuple[bool, ...], params: Any) -> list[Any]:
    primals, tangents = _take_apart(args, nonzero)
    outs, ts = rule.forward(primals, tangents, dict(params))
    return _results(outs, ts)


def _split(trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    rule: TwoPhases = params["rule"]
    nonzero: tuple[bool, ...] = params["nonzero"]
    primals, tangents = _take_apart(args, nonzero)
    if any(trace.owns(x) for x in primals):
        return trace.record(hi_jvp_p, args, params)
    outs, linear = rule.split(nonzero, primals, dict(params["params"]))
    return _results(outs, run_under(trace, linear, *tangents))


hi_jvp_p.rules = {"ad.partial_eval": _split}


def _take_apart(args: Sequence[Any], nonzero: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    given = iter(args[len(nonzero) :])
    return list(args[: len(nonzero)]), [next(given) if live else None for live in nonzero]


def _results(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Values, then a tangent for each that has one, zeros as values."""
    found = list(outs)
    for x, t in zip(outs, tangents):
        aval = typeof(x)
        if differentiable(aval):
            found.append(zeros(aval.tangent_type()) if t is None else t)
    return found
