"""The primitive ``jit``: a call of a program as one operation.

The arguments of ``jit`` beside its function that also hold for transformed calls are parameters of
the call, if they were given: ``device``, ``compiler_options_kvs`` and ``keep_unused``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface
from dovetail_surface.parameters import Derived, show_parameters
from dovetail_xla.shardings import single_device_sharding

from .shardings import UNSPECIFIED

jit_p = Primitive("jit", multiple_results=True)
jit_p.def_traits(
    parameters={
        "jaxpr": "program of the function",
        "name": "its name",
        "donated_invars": "which operands it may overwrite",
        "compiler_options_kvs": "options of XLA's, if any: pairs of name and value",
        "device": "the device that it runs on, if one was given",
        "keep_unused": "whether operands that it does not use are passed all the same",
    },
    places=lambda params: [] if (s := _sharding(params)) is UNSPECIFIED else [s],
)


def _sharding(params: dict[str, Any]) -> Any:
    """The sharding of operands and results, if a device was given."""
    device = params.get("device")
    return UNSPECIFIED if device is None else single_device_sharding(device)


def _no_layout(params: dict[str, Any]) -> None:
    return None


def _each(kind: str, value: Callable[[dict[str, Any]], Any]) -> Derived:
    """A parameter that says ``value(params)`` of every operand or result."""
    return Derived(lambda params: (value(params),) * len(getattr(params["jaxpr"], kind)))


show_parameters(
    jit_p, inline=False, keep_unused=False, compiler_options_kvs=(), device=None,
    in_shardings=_each("in_avals", _sharding), out_shardings=_each("out_avals", _sharding),
    in_layouts=_each("in_avals", _no_layout), out_layouts=_each("out_avals", _no_layout),
)  # fmt: skip


@jit_p.def_effectful_abstract_eval
def _type(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return jaxpr.out_avals, jaxpr.effects


@jit_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        # A donated operand that has grown a companion stays donated, with its companion.
        before = params["donated_invars"]
        donated = tuple(x.origin is not None and before[x.origin] for x in operands)
        return {**params, "jaxpr": program, "donated_invars": donated}

    return call_interface(params["jaxpr"], rebuild)


def call_program(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
    """Bind ``jit`` for a program without constants of its own."""
    return jit_p.bind(*args, jaxpr=program, name=name, donated_invars=(False,) * len(args))
