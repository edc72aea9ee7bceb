"""The primitive ``jit``: a call of a program as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface
from dovetail_core.dispatch.forms import Derived, show_parameters

from .shardings import UNSPECIFIED

jit_p = Primitive("jit", multiple_results=True)
jit_p.def_traits(
    parameters={
        "jaxpr": "program of the function",
        "name": "its name",
        "donated_invars": "which operands it may overwrite",
    }
)


def _each(kind: str, value: Any) -> Derived:
    """A parameter that says ``value`` of every operand or result."""
    return Derived(lambda params: (value,) * len(getattr(params["jaxpr"], kind)))


show_parameters(
    jit_p, inline=False, keep_unused=False, compiler_options_kvs=(),
    in_shardings=_each("in_avals", UNSPECIFIED), out_shardings=_each("out_avals", UNSPECIFIED),
    in_layouts=_each("in_avals", None), out_layouts=_each("out_avals", None),
)  # fmt: skip


@jit_p.def_effectful_abstract_eval
def _type(*avals: Any, jaxpr: ClosedJaxpr, name: str, donated_invars: tuple[bool, ...]) -> Any:
    return jaxpr.out_avals, jaxpr.effects


@jit_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        # A donated operand that has grown a companion stays donated, with its companion.
        before = params["donated_invars"]
        donated = tuple(x.origin is not None and before[x.origin] for x in operands)
        return {"jaxpr": program, "name": params["name"], "donated_invars": donated}

    return call_interface(params["jaxpr"], rebuild)


def call_program(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
    """Bind ``jit`` for a program without constants of its own."""
    return jit_p.bind(*args, jaxpr=program, name=name, donated_invars=(False,) * len(args))
