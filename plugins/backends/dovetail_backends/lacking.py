"""Element types that a backend lacks, as it says itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import ClosedJaxpr, Eqn, Unsupported, describe_source
from dovetail_core.ir.programs import open_program, walk


def refuse_lacking(backend: Any, program: ClosedJaxpr, name: str) -> None:
    """Refuse a program with arrays of element types that a backend lacks (``Backend.lacks``).

    Args:
        name: of the function, for the message.

    Raises:
        Unsupported: names the backend, the element type, the operation and its place.
    """
    lacks = frozenset(map(_name, getattr(backend, "lacks", ())))
    if not lacks:
        return
    for aval, eqn in _types(program):
        dtype = getattr(aval, "dtype", None)
        if dtype is not None and _name(dtype) in lacks:
            of = f", of {eqn.primitive.name!r}{describe_source(eqn.source)}" if eqn else ""
            raise Unsupported(
                f"backend {backend.platform!r} has no arrays of {_name(dtype)}, and {name} has a "
                f"value of type {aval.str_short()}{of}. Use another element type, or another "
                "backend."
            )


def _name(dtype: Any) -> str:
    if isinstance(dtype, str):
        return dtype
    return getattr(dtype, "name", None) or np.dtype(dtype).name


def _types(program: ClosedJaxpr) -> Iterator[tuple[Any, Eqn | None]]:
    """The types of a program's values, and the equations that have them."""
    for aval in program.in_avals:
        yield aval, None
    for each in walk(program):
        for eqn in open_program(each).eqns:
            for v in (*eqn.invars, *eqn.outvars):
                yield v.aval, eqn  # type: ignore[attr-defined]
    for aval in program.out_avals:
        yield aval, None
