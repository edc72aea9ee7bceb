"""Which operation a malformed module comes from: only looked into when a module does not compile.

The module is written once more, with a comment above the lines of each operation that says where
it comes from, and is parsed and verified; the comment above the line that is complained of names
the operation.
"""

from __future__ import annotations

import re
from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, Primitive, RegistryError, describe_source

from ..tables import stablehlo_rules
from .text import tensor_type

_AT_LINE = re.compile(r'["\w.-]*:(\d+):\d+')


def origin_of(primitive: Primitive) -> str:
    """Where the lowering of a primitive stands, for messages."""
    origin = stablehlo_rules.origins.get(primitive)
    return f" (the rule at {origin})" if origin else " (its decomposition)"


def label(eqn: Eqn) -> str:
    """What messages call an operation: its primitive, the user's line, and its rule's place."""
    name = eqn.primitive.name
    return f"the lowering of {name!r}{describe_source(eqn.source)}{origin_of(eqn.primitive)}"


def check_results(eqn: Eqn, results: Any) -> None:
    """Raise if a rule did not return values of exactly the operation's result types.

    Raises:
        RegistryError: names the primitive, the user's line, the rule's place and the types.
    """
    found = list(results) if eqn.primitive.multiple_results else [results]
    wanted = [tensor_type(v.aval) for v in eqn.outvars]
    got = [getattr(x, "type", type(x).__name__) for x in found]
    if got != wanted:
        raise RegistryError(
            f"{label(eqn)} returned ({', '.join(got)}), but the operation's results are "
            f"({', '.join(wanted)}). Make the rule return one value per result, of that type."
        )


def explain_failure(
    program: ClosedJaxpr, platform: str, name: str, error: Exception
) -> RegistryError | None:
    """The error that names the operation to blame for ``error`` of lowering or compiling, if any.

    Where a rule raised ``error`` itself, a note is added to it instead.
    """
    from dovetail_core.xla import mlir

    from .module import lower_module

    try:
        text = lower_module(program, platform, name, annotated=True).text
    except RegistryError as e:
        return e
    except Exception as e:  # whatever a rule raises
        for note in getattr(e, "__notes__", [])[:1]:
            error.add_note(note)
        return None
    try:
        mlir.verify(mlir.parse(text))
    except Exception as e:  # whatever the parser and the verifier complain of
        return _blamed(text, name, str(e))
    return None


def _blamed(text: str, name: str, diagnostic: str) -> RegistryError:
    lines = text.splitlines()
    said = " ".join(diagnostic.split())
    at = _AT_LINE.search(diagnostic)
    number = min(int(at.group(1)), len(lines)) if at else 1
    line = lines[number - 1].strip()
    above = (x[3:] for x in reversed(lines[:number]) if x.startswith("// "))
    who = next(above, "the program as a whole")
    return RegistryError(
        f"the module of {name} is not valid StableHLO, because of {who}, which emits {line!r}: "
        f"{said}. Correct the rule (table 'backends.stablehlo')."
    )
