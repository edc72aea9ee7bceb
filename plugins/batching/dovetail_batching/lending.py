"""Mutable values under ``vmap``: local values, and the mapped ones of the parent for which they
stand."""

from __future__ import annotations

from typing import Any

from dovetail_core import mutable_values, run_under, typeof


def borrowed(
    trace: Any, x: Any, dim: int, local: mutable_values.LocalValue | None = None
) -> mutable_values.LocalValue:
    """A mapped mutable value of the parent as a local value, or as one that is there already."""
    contents = [trace.lift((c, dim)) for c in typeof(x).read(x)] if local is None else ()
    trace.borrows.append(
        mutable_values.Borrow(trace, (x,), trace.carrier.aval((x, dim)), contents, local)
    )
    trace.borrow_dims.append(dim)
    return trace.borrows[-1].local


def settle(trace: Any, borrow: mutable_values.Borrow, dim: int) -> None:
    """Write what a local value holds to the value for which it stands, if it has changed."""
    if borrow.changed:
        lowered = [trace.lower(c) for c in borrow.local.contents]
        arrays = [trace.carrier.arrays(v, True, dim)[0] for v in lowered]
        borrow.local.aval.write(borrow.originals[0], arrays)
        borrow.settle()


def original(trace: Any, local: mutable_values.LocalValue) -> tuple[Any, int]:
    """The value for which a local value stands, and its mapped axis; it is made if there is none
    yet. It holds what the local value does. Called under the parent."""
    at = next((i for i, b in enumerate(trace.borrows) if b.local is local), None)
    if at is None:
        lowered = [trace.lower(c) for c in local.contents]
        (aval,) = trace.carrier.types(local.aval, True)
        made = aval.make([trace.carrier.arrays(v, True, 0)[0] for v in lowered])
        borrowed(trace, made, 0, local)
        at = -1
    settle(trace, trace.borrows[at], trace.borrow_dims[at])
    return trace.borrows[at].originals[0], trace.borrow_dims[at]


def read_again(trace: Any, local: mutable_values.LocalValue) -> None:
    """Have a local value hold what the value for which it stands does."""
    at = next(i for i, b in enumerate(trace.borrows) if b.local is local)
    borrow, dim = trace.borrows[at], trace.borrow_dims[at]
    (x,) = borrow.originals
    result = run_under(trace.parent, typeof(x).read, x)
    local.contents[:] = [trace.lift((c, dim)) for c in result]
    borrow.settle()
