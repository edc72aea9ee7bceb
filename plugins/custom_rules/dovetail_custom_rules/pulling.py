"""Reverse mode of a function by its body, as a row that keeps its author's rule of batching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import vjp
from dovetail_core import ClosedJaxpr, Primitive, jaxpr_as_fun, stage_closed
from dovetail_core.types.algebra import zeros

from .flat import Flags, FlatRules, pick
from .lifting import to_front
from .zeros import is_zero


def pull(
    f: Callable[..., Any], mask: Flags, used: Flags, operands: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Cotangents (None for zeros) of the operands in ``mask``, from those of ``used`` results."""

    def of_differentiable(*xs: Any) -> list[Any]:
        rest = iter(xs)
        return pick(f(*[next(rest) if m else x for x, m in zip(operands, mask)]), used)

    found = vjp(of_differentiable, *pick(operands, mask))[1](list(cts))
    return [None if is_zero(x) else x for x in found]


def pull_row(rules: FlatRules, program: ClosedJaxpr, mask: Flags, used: Flags) -> BoundRow:
    """:func:`pull` of the body as a row, on operands and cotangents.

    Batched, it is that of the author's batched function.
    """
    key = "pull", mask, used
    return rules.derived(program, key, lambda: _pull_row(rules, program, mask, used))


class BoundRow:
    """A row with its program."""

    def __init__(self, row: Primitive, program: ClosedJaxpr) -> None:
        self.row = row
        self.program = program

    def bind(self, *args: Any) -> list[Any]:
        """The row's results."""
        return self.row.bind(*args, program=self.program)


def _pull_row(rules: FlatRules, program: ClosedJaxpr, mask: Flags, used: Flags) -> Any:
    from .row import program_row

    n = len(mask)
    wanted = pick(program.in_avals, mask)

    def dense(found: Sequence[Any]) -> list[Any]:
        return [zeros(a.cotangent_type()) if x is None else x for x, a in zip(found, wanted)]

    body = jaxpr_as_fun(program)
    avals = [*program.in_avals, *(a.cotangent_type() for a in pick(program.out_avals, used))]
    pulled = stage_closed(
        lambda *xs: dense(pull(body, mask, used, xs[:n], xs[n:])), avals, f"{rules.name}_pull"
    )

    def batch(axis: Any, args: Sequence[Any], dims: Sequence[int | None]) -> Any:
        # Each element has its own cotangent, also of an operand that all have in common.
        whole = [*mask, *[True] * (len(args) - n)]
        every = [to_front(axis, x, d) if w else x for x, d, w in zip(args, dims, whole)]
        places = [0 if w else d for d, w in zip(dims, whole)]

        def mapped(*xs: Any) -> list[Any]:
            assert rules.batch is not None
            outs, out_dims = rules.batch(axis, xs, places[:n])
            return [to_front(axis, x, d) for x, d in zip(outs, out_dims)]

        found = pull(mapped, mask, used, every[:n], every[n:])
        return [
            zeros(a.cotangent_type().update(shape=(axis.size, *a.shape))) if x is None else x
            for x, a in zip(found, wanted)
        ], [0] * len(found)

    fixed = ("",) * len(avals)
    own = FlatRules(f"{rules.name}_pull", rules.origin, fixed, batch=batch)
    return BoundRow(program_row(own), pulled)
