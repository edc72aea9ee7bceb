"""The two parts of a checkpointed program: the forward part, and stages of the linear part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal as Choice

from dovetail_ad import LinearTrace, Split
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Var,
    dce_closed,
)

from .primitive import remat_p
from .verdicts import Offloadable


@dataclass(frozen=True)
class Stage:
    """One recorded call of the linear part, with the second computation of the values it needs.

    Attributes:
        program: takes the given values (kept ones, then known inputs) marked in ``needed``, and
            the unknowns at ``takes``; returns new unknowns.
        barrier: the operands that go through a barrier: ``"all"``, so that recomputation is not
            moved earlier; only the ``"kept"`` values, so that the compiler reads them instead of
            computing them again; or ``"nothing"``.
    """

    program: ClosedJaxpr
    needed: tuple[bool, ...]
    takes: tuple[int, ...]
    barrier: Choice["all", "kept", "nothing"] = "all"


@dataclass(frozen=True)
class Parts:
    """A checkpointed program in two parts.

    Attributes:
        forward: takes the known inputs; returns the known results and the kept values.
        kept: per kept value the memory to which it is moved, or None.
        stages: in order; unknowns are numbered: the inputs, then the results of each stage.
        outs: the numbers of the unknowns that are the results.
        plan: the plan of a budget, if one chose the kept values.
    """

    split: Split
    forward: ClosedJaxpr
    kept: tuple[Offloadable | None, ...]
    stages: tuple[Stage, ...]
    outs: tuple[int, ...]
    plan: Any = None

    @property
    def out_unknown(self) -> tuple[bool, ...]:
        return self.split.out_unknown

    @property
    def num_results(self) -> int:
        return self.split.num_known_outputs

    def merge(self, known: Sequence[Any], unknown: Sequence[Any]) -> list[Any]:
        """All results in order."""
        return self.split.merge(known, unknown)

    def record(
        self,
        trace: LinearTrace,
        given: Sequence[Any],
        barrier: Sequence[bool],
        unknowns: Sequence[Any],
        params: dict[str, Any],
    ) -> list[Any]:
        """Record every stage in ``trace``; returns the unknown results."""
        result = list(unknowns)
        for stage in self.stages:
            operands = [x for x, n in zip(given, stage.needed) if n]
            operands += [result[i] for i in stage.takes]
            behind = {"all": len(given), "kept": len(self.kept), "nothing": 0}[stage.barrier]
            numbered = enumerate(zip(barrier, stage.needed))
            flags = [b and i < behind for i, (b, n) in numbered if n]
            flags += [stage.barrier == "all" and any(barrier)] * len(stage.takes)
            call = {
                **params,
                # Differentiated again, a stage of a budget's plan keeps only its operands.
                "policy": None if self.plan is not None else params["policy"],
                "jaxpr": stage.program,
                "differentiated": True,
                "prevent_cse": joined(flags),
            }
            result.extend(trace.record(remat_p, operands, call))
        return [result[i] for i in self.outs]


def barriers(prevent_cse: bool | tuple[bool, ...], count: int) -> tuple[bool, ...]:
    """A flag per operand: True if it goes through a barrier in the second computation."""
    return prevent_cse if isinstance(prevent_cse, tuple) else (prevent_cse,) * count


def joined(flags: Sequence[bool]) -> bool | tuple[bool, ...]:
    """Flags per operand as the parameter ``prevent_cse``: one bool if all are equal."""
    return flags[0] if flags and len(set(flags)) == 1 else tuple(flags) if flags else True


def forward_program(known: ClosedJaxpr, kept: Sequence[Var], n: int) -> ClosedJaxpr:
    """The known program, returning its ``n`` results and the kept values."""
    outvars = [*known.jaxpr.outvars[:n], *kept]
    program = ClosedJaxpr(known.jaxpr.replace(outvars=outvars), known.consts)
    return dce_closed(program, [True] * len(outvars), True)[0]


def without(eqn: Eqn, given: dict[Var, Any], same: dict[Any, Var]) -> Eqn | None:
    """The equation without the results that are ``given``; None if it has no others."""
    if all(v in given for v in eqn.outvars):
        return None
    outvars = [Var(v.aval) if v in given else v for v in eqn.outvars]
    return eqn.replace(invars=[same.get(x, x) for x in eqn.invars], outvars=outvars)
