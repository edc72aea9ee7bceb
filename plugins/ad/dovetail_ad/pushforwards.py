"""Pushforward primitives: operations whose derivative rule is chosen when they are evaluated.

The ``ad.jvp`` rule of an operation that has a rule for reverse mode cannot know whether its result
will be transposed. So it binds the operation's pushforward: a primitive from primals and nonzero
tangents to results and their tangents. On arrays it runs the rule for forward mode. On linear
unknowns it is split into values and a linear function, which may have its own transpose rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import AbstractValue, Primitive, algebra, run_under, typeof, zeros_like_aval

from .linear import LinearTrace
from .tangents import has_tangent

Linear = Callable[..., Sequence[Any]]


class DeferredLinearization(Protocol):
    """An operation that is linearized on evaluation. Results are lists, None is a zero tangent."""

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Values and tangents."""
        ...

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Linear] | None:
        """Values, and the linear function from all tangents to the results' tangents.

        Returns None if the operations of ``forward`` are to be split one by one instead.
        """
        ...


def define_pushforward(
    primitive: Primitive,
    read: Callable[[dict[str, Any]], tuple[DeferredLinearization, Sequence[bool], Any]],
) -> None:
    """Make ``primitive`` a pushforward: set its decomposition and its ``ad.partial_eval`` rule.

    Args:
        read: maps the primitive's parameters to the operation, a flag per operand that is True
            where the operand has a tangent, and the operation's own parameters.
    """

    def run(*args: Any, **params: Any) -> list[Any]:
        operation, nonzero, own = read(params)
        outs, tangents = operation.forward(*_primals_and_tangents(args, nonzero), own)
        return interleaved(outs, tangents)

    def split(trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        operation, nonzero, own = read(params)
        primals, tangents = _primals_and_tangents(args, nonzero)
        unknown = any(trace.owns(x) for x in primals)
        result = None if unknown else operation.split(nonzero, primals, own)
        if result is None:
            return run_under(trace, run, *args, **params)
        outs, linear = result
        return interleaved(outs, run_under(trace, linear, *tangents))

    primitive.def_decomposition(run)
    primitive.rules = {**(primitive.rules or {}), "ad.partial_eval": split}


def _primals_and_tangents(
    args: Sequence[Any], nonzero: Sequence[bool]
) -> tuple[Sequence[Any], list[Any]]:
    n = len(nonzero)
    given = iter(args[n:])
    return args[:n], [next(given) if live else None for live in nonzero]


def interleaved(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """The results of a pushforward: each value, followed by its tangent where it has one."""
    result: list[Any] = []
    for out, t in zip(outs, tangents):
        result.append(out)
        aval = typeof(out)
        if has_tangent(aval):
            want = aval.tangent_type()
            result.append(zeros_like_aval(want) if t is None else typed(t, want))
    return result


def deinterleaved(results: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Values and tangents (None for values without one) from the results of a pushforward."""
    outs: list[Any] = []
    tangents: list[Any] = []
    rest = iter(results)
    for out in rest:
        outs.append(out)
        tangents.append(next(rest) if has_tangent(typeof(out)) else None)
    return outs, tangents


def interleaved_types(avals: Sequence[AbstractValue]) -> list[AbstractValue]:
    """The types of a pushforward's results, given the types of the operation's results."""
    return [b for a in avals for b in ((a, a.tangent_type()) if has_tangent(a) else (a,))]


def typed(x: Any, want: Any) -> Any:
    """``x`` converted to type ``want``, from which its own differs at most in weak typing."""
    return x if typeof(x) == want or want.is_high else algebra().convert(x, want)
