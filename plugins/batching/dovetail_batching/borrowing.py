"""Mutable values under ``vmap``: local values, and the mapped values of the parent that they
represent."""

from __future__ import annotations

from typing import Any

from dovetail_core import mutable_values, run_under, typeof


def borrow(
    trace: Any, x: Any, dim: int, local: mutable_values.LocalValue | None = None
) -> mutable_values.LocalValue:
    """A mapped mutable value of the parent as a local value: ``local``, or a new one."""
    contents = [trace.lift((c, dim)) for c in typeof(x).read(x)] if local is None else ()
    trace.borrows.append(
        mutable_values.Borrow(trace, (x,), trace.carrier.aval((x, dim)), contents, local)
    )
    trace.borrow_dims.append(dim)
    return trace.borrows[-1].local


def settle(trace: Any, borrow: mutable_values.Borrow, dim: int) -> None:
    """Write the contents of a local value to the value that it represents, if they have changed."""
    if borrow.changed:
        lowered = [trace.lower(c) for c in borrow.local.contents]
        arrays = [trace.carrier.arrays(v, True, dim)[0] for v in lowered]
        borrow.local.aval.write(borrow.originals[0], arrays)
        borrow.settle()


def outer_reference(trace: Any, local: mutable_values.LocalValue) -> tuple[Any, int]:
    """The value that a local value represents, made if there is none yet, and its mapped axis.

    Its contents are updated to those of the local value. Called under the parent.
    """
    at = next((i for i, b in enumerate(trace.borrows) if b.local is local), None)
    if at is None:
        lowered = [trace.lower(c) for c in local.contents]
        (aval,) = trace.carrier.types(local.aval, True)
        made = aval.make([trace.carrier.arrays(v, True, 0)[0] for v in lowered])
        borrow(trace, made, 0, local)
        at = -1
    settle(trace, trace.borrows[at], trace.borrow_dims[at])
    return trace.borrows[at].originals[0], trace.borrow_dims[at]


def read_outer(trace: Any, local: mutable_values.LocalValue) -> None:
    """Set the contents of a local value to those of the value that it represents."""
    at = next(i for i, b in enumerate(trace.borrows) if b.local is local)
    borrow, dim = trace.borrows[at], trace.borrow_dims[at]
    (x,) = borrow.originals
    result = run_under(trace.parent, typeof(x).read, x)
    local.contents[:] = [trace.lift((c, dim)) for c in result]
    borrow.settle()
