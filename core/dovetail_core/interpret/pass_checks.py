"""Checks of passes: a program or module keeps the types of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base.errors import RegistryError
from dovetail_base.source import short_repr

from ..ir.programs import ClosedJaxpr


def same_program(label: str, before: ClosedJaxpr, after: Any) -> ClosedJaxpr:
    """The program that a pass made of ``before``, if it takes and returns the same types.

    Args:
        label: the name of the pass in messages.

    Raises:
        RegistryError: it is no program, or of other types; names the pass and the types.
    """
    if not isinstance(after, ClosedJaxpr):
        raise RegistryError(
            f"{label} returned {short_repr(after)} of type {type(after).__name__}, not a "
            "ClosedJaxpr. Make it return the program, changed or not."
        )
    _compare(label, "input", before.in_avals, after.in_avals)
    _compare(label, "result", before.out_avals, after.out_avals)
    return after


def same_module(label: str, before: str, after: Any) -> str:
    """The text of the module that a pass made of ``before``, if its ``main`` is of the same type.

    Args:
        after: text, bytecode or a module of MLIR's.

    Raises:
        RegistryError: it is no module, or one with another ``main``; names the pass and the types.
    """
    from dovetail_xla import mlir  # most programs run without such a pass

    try:
        parsed = mlir.parse(after) if isinstance(after, (str, bytes)) else after
        text = after if isinstance(after, str) else mlir.pretty(parsed)
        result = mlir.type_of_main(parsed)
    except AttributeError:
        raise RegistryError(
            f"{label} returned {short_repr(after)} of type {type(after).__name__}, not a module. "
            "Make it return StableHLO as text, as bytecode, or as an ir.Module."
        ) from None
    except ValueError as e:
        raise RegistryError(f"{label} returned {e}. Correct the pass.") from e
    wanted = mlir.type_of_main(mlir.parse(before))
    for what, old, new in zip(("input", "result"), wanted, result):
        _compare(label, what, old, new, " of its function main")
    return text


def _compare(
    label: str, what: str, before: Sequence[Any], after: Sequence[Any], where: str = ""
) -> None:
    if before == after:
        return
    more = f"A pass must keep what a program takes and returns. Correct the pass, or {_DISABLE}"
    if len(before) != len(after):
        raise RegistryError(
            f"{label} returned a program with {len(after)} {what}s{where} in place of "
            f"{len(before)}. {more}"
        )
    i = next(i for i, (x, y) in enumerate(zip(before, after)) if x != y)
    raise RegistryError(
        f"{label} changed the type of {what} {i}{where} from {_spell(before[i])} to "
        f"{_spell(after[i])}. {more}"
    )


_DISABLE = "disable its plugin (DOVETAIL_DISABLE_PLUGINS)."


def _spell(aval: Any) -> str:
    return aval if isinstance(aval, str) else aval.str_short()
