"""Operations that are linearized late: forward or in reverse shows when they are evaluated.

The rule of ``ad.jvp`` of an operation with a rule for reverse mode cannot know whether somebody
will transpose. So it binds the operation's pushforward: a primitive from primals and nonzero
tangents to results and their tangents. Evaluated, it runs the rule for forward mode; met
by linear unknowns it is split, into values and a linear function, which may have a transpose of its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import AbstractValue, Primitive, algebra, run_under, typeof, zeros_like_aval

from .linear import LinearTrace
from .tangents import has_tangent

Linear = Callable[..., Sequence[Any]]


class Late(Protocol):
    """An operation that is linearized late. Results are lists, None is a zero tangent."""

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Values and tangents."""
        ...

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Linear] | None:
        """Values, and the linear function from all tangents to the results' tangents.

        None: what ``forward`` does is split operation by operation.
        """
        ...


def define_pushforward(
    primitive: Primitive, read: Callable[[dict[str, Any]], tuple[Late, Sequence[bool], Any]]
) -> None:
    """Make ``primitive`` a pushforward: set its decomposition and its rule of ``ad.partial_eval``.

    Args:
        read: from the primitive's parameters to the operation, per operand of it whether it has a
            tangent, and the operation's own parameters.
    """

    def run(*args: Any, **params: Any) -> list[Any]:
        late, nonzero, own = read(params)
        outs, tangents = late.forward(*_apart(args, nonzero), own)
        return in_turns(outs, tangents)

    def split(trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        late, nonzero, own = read(params)
        primals, tangents = _apart(args, nonzero)
        unknown = any(trace.owns(x) for x in primals)
        result = None if unknown else late.split(nonzero, primals, own)
        if result is None:
            return run_under(trace, run, *args, **params)
        outs, linear = result
        return in_turns(outs, run_under(trace, linear, *tangents))

    primitive.def_decomposition(run)
    primitive.rules = {**(primitive.rules or {}), "ad.partial_eval": split}


def _apart(args: Sequence[Any], nonzero: Sequence[bool]) -> tuple[Sequence[Any], list[Any]]:
    n = len(nonzero)
    given = iter(args[n:])
    return args[:n], [next(given) if live else None for live in nonzero]


def in_turns(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """The results of a pushforward: each value, and behind it its tangent where it has one."""
    result: list[Any] = []
    for out, t in zip(outs, tangents):
        result.append(out)
        aval = typeof(out)
        if has_tangent(aval):
            want = aval.tangent_type()
            result.append(zeros_like_aval(want) if t is None else typed(t, want))
    return result


def from_turns(results: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Values and tangents (None where there are none) from the results of a pushforward."""
    outs: list[Any] = []
    tangents: list[Any] = []
    rest = iter(results)
    for out in rest:
        outs.append(out)
        tangents.append(next(rest) if has_tangent(typeof(out)) else None)
    return outs, tangents


def types_in_turns(avals: Sequence[AbstractValue]) -> list[AbstractValue]:
    """The types of a pushforward's results, where the operation's are of types ``avals``."""
    return [b for a in avals for b in ((a, a.tangent_type()) if has_tangent(a) else (a,))]


def typed(x: Any, want: Any) -> Any:
    """``x`` at type ``want``, from which it differs at most in being weakly typed."""
    return x if typeof(x) == want or want.is_high else algebra().convert(x, want)
