"""Diagnosis of a module that does not compile: the operation whose lowering is invalid.

The module is written again, with a comment above the lines of each operation that names it, and is
parsed and verified; the comment above the line of the parser's complaint names the operation.
"""

from __future__ import annotations

import re

from dovetail_core import ClosedJaxpr, RegistryError

from .module import lower_module

_AT_LINE = r'["\w.-]*:(\d+):\d+'


def explain_failure(
    program: ClosedJaxpr, platform: str, name: str, error: Exception
) -> RegistryError | None:
    """An error that names the operation that caused ``error`` of lowering or compiling, if any.

    If a rule raised ``error`` itself, a note is added to it instead, and None returned.
    """
    from dovetail_xla import mlir

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
    except Exception as e:  # of the parser or the verifier
        return _invalid_module(text, name, str(e))
    return None


def _invalid_module(text: str, name: str, diagnostic: str) -> RegistryError:
    lines = text.splitlines()
    message = " ".join(diagnostic.split())
    at = re.search(_AT_LINE, diagnostic)
    number = min(int(at.group(1)), len(lines)) if at else 1
    line = lines[number - 1].strip()
    above = (x[3:] for x in reversed(lines[:number]) if x.startswith("// "))
    operation = next(above, "the program as a whole")
    return RegistryError(
        f"the module of {name} is not valid StableHLO, because of {operation}, which emits "
        f"{line!r}: {message}. Correct the rule (table 'backends.stablehlo')."
    )
