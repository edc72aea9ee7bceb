"""The options ``debug_nans`` and ``debug_infs``, and the checks of results that they enable."""

from __future__ import annotations

import sys
from functools import partial
from types import FrameType
from typing import Any

from dovetail_base.environment import as_bool
from dovetail_base.source import Source
from dovetail_batching import BatchTrace, trace_makers
from dovetail_core import ClosedJaxpr, Option, Trace, current_source, describe_source
from dovetail_jit import Run, watch_results
from dovetail_xla.arrays import ArrayImpl

from .finding import INF, NAN, Finding, Kind, NumericError, concrete_finding, first_occurrence
from .mapped import WatchedBatchTrace, is_quiet, quietly
from .search import search


def check_results(kind: Kind, run: Run) -> None:
    """Raise if there is such a number among the results of a program.

    Raises:
        NumericError: names the operation that returned it first.
    """
    if not is_quiet() and first_occurrence(kind, run.outs) is not None:
        quietly(_refuse, kind, run)


def _refuse(kind: Kind, run: Run) -> None:
    here = current_source()
    finding, why = None, ""
    if any(x.__class__ is ArrayImpl and x.is_deleted() for x in run.operands):
        why = "The call gave operands away, so that it cannot be run again: do not donate them."
    else:
        finding = _search_run(kind, run, here)
        why = "Run again, operation by operation, it has none: rounding decides."
    if finding is None:
        raise NumericError(
            f"{kind.name} among the results of {run.name}{describe_source(here)}. {why}"
        )
    if not finding.is_differentiated and _is_reverse():
        finding = finding._replace(is_differentiated=True)
    raise NumericError(str(finding), finding)


def _search_run(kind: Kind, run: Run, here: Source | None) -> Finding | None:
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
    """The finding for a program that passes on such a number from an operand."""
    if first_occurrence(kind, run.operands) is None:
        return None
    return concrete_finding(kind, run.name, here, run.operands, run.outs)


def _is_reverse() -> bool:
    """True if an enclosing trace is one that a backward pass follows."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "process":
            trace = frame.f_locals.get("self")
            if isinstance(trace, Trace) and trace.is_reverse:
                return True
        frame = frame.f_back
    return False


debug_nans = Option(
    "debug_nans",
    False,
    "A nan among the results of an operation raises, and says where it comes up.",
    check=as_bool,
    traced=True,
)
debug_infs = Option(
    "debug_infs",
    False,
    "An infinity among the results of an operation raises, and says where it comes up.",
    check=as_bool,
    traced=True,
)


def _trace_for(parent: Trace, carrier: Any) -> BatchTrace | None:
    on = debug_nans.value or debug_infs.value
    return WatchedBatchTrace(parent, carrier) if on else None


trace_makers.append(_trace_for)
watch_results(debug_nans, partial(check_results, NAN))
watch_results(debug_infs, partial(check_results, INF))
