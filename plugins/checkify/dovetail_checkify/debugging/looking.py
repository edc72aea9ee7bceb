"""What is done with the results of each program while one of the options is on."""

from __future__ import annotations

import sys
from types import FrameType

from dovetail_base.source import Source
from dovetail_core import ClosedJaxpr, Trace, current_source, describe_source
from dovetail_jit import Run
from dovetail_xla.arrays import ArrayImpl

from .finding import Finding, NumericError, concrete_finding, first_place
from .kinds import Kind
from .mapped import is_quiet, quietly
from .search import search


def look(kind: Kind, run: Run) -> None:
    """Raise if there is such a number among the results of a program.

    Raises:
        NumericError: says with which operation it came up.
    """
    if not is_quiet() and first_place(kind, run.outs) is not None:
        quietly(_refuse, kind, run)


def _refuse(kind: Kind, run: Run) -> None:
    here = current_source()
    finding, why = None, ""
    if any(x.__class__ is ArrayImpl and x.is_deleted() for x in run.operands):
        why = "The call gave operands away, so that it cannot be run again: do not donate them."
    else:
        finding = _found(kind, run, here)
        why = "Run again, operation by operation, it has none: rounding decides."
    if finding is None:
        raise NumericError(
            f"{kind.name} among the results of {run.name}{describe_source(here)}. {why}"
        )
    if not finding.is_differentiated and _is_reverse():
        finding = finding._replace(is_differentiated=True)
    raise NumericError(str(finding), finding)


def _found(kind: Kind, run: Run, here: Source | None) -> Finding | None:
    program = run.program
    if run.lines == "inside":
        (eqn,) = program.eqns
        if eqn.primitive.regions is None:
            return concrete_finding(
                kind, f"primitive {eqn.primitive.name}", here, run.operands, run.outs
            )
        program = ClosedJaxpr(
            program.jaxpr.replace(eqns=[eqn.replace(source=here)]), program.consts
        )
    result = search(kind, program, run.operands, here if run.lines == "none" else None)
    return result or _passed_on(kind, run, here)


def _passed_on(kind: Kind, run: Run, here: Source | None) -> Finding | None:
    """What there is to say where no operation has one among its results: an operand has."""
    if first_place(kind, run.operands) is None:
        return None
    return concrete_finding(kind, run.name, here, run.operands, run.outs)


def _is_reverse() -> bool:
    """Whether a trace that a backward pass follows is at work further out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "process":
            trace = frame.f_locals.get("self")
            if isinstance(trace, Trace) and trace.is_reverse:
                return True
        frame = frame.f_back
    return False
