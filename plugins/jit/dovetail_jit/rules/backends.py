"""Running a call: lowered, it calls a private function; with NumPy, its program is evaluated."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate, reference_rules, stablehlo_rules
from dovetail_base.source import Source, current_source, describe

from ..primitive import jit_p


@stablehlo_rules.register(jit_p)
def _jit_stablehlo(b: Any, *operands: Any, jaxpr: Any, **params: Any) -> list[Any]:
    _refuse_options(b.source, **params)
    return b.call(jaxpr, operands)


@reference_rules.register(jit_p)
def _jit_reference(*args: Any, jaxpr: Any, **params: Any) -> list[Any]:
    _refuse_options(current_source(), **params)
    return evaluate(jaxpr, *args)


def _refuse_options(
    source: Source | None, *, name: str, compiler_options_kvs: Any = (), **params: Any
) -> None:
    """Raise ValueError: XLA compiles a program, with the calls in it, with one set of options."""
    if compiler_options_kvs:
        raise ValueError(
            f"{name}, jitted with compiler_options={dict(compiler_options_kvs)!r}, is called "
            f"within a program{describe(source)} that is compiled as a whole, with one set of "
            "options. Give compiler_options to the outermost jit."
        )
