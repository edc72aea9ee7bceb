"""The primitives ``remat2`` (a call whose values are recomputed), ``name`` and ``place``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface

remat_p = Primitive("remat2", multiple_results=True)
remat_p.def_traits(
    parameters={
        "jaxpr": "program of the function",
        "policy": "selects the values kept for the reverse pass",
        "prevent_cse": "operands of the second computation that go through a barrier",
        "differentiated": "true for the second computation",
        "effects": "once, or replay: again at each recomputation",
    }
)
"""``remat2(*operands, jaxpr, policy, prevent_cse, differentiated, effects="once")``.

``prevent_cse`` marks operands of the second computation that go through a barrier: a bool for all
of them, or one for each. ``differentiated`` marks the second computation. With ``effects`` of
``"replay"`` the second computation has the effects of the first.
"""


@remat_p.def_effectful_abstract_eval
def _type(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return jaxpr.out_avals, jaxpr.effects


@remat_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        barrier = params["prevent_cse"]
        if isinstance(barrier, tuple):
            barrier = tuple(x.origin is not None and barrier[x.origin] for x in operands)
        return {**params, "jaxpr": program, "prevent_cse": barrier}

    return call_interface(params["jaxpr"], rebuild)


name_p = Primitive("name")
name_p.def_traits(parameters={"name": "the name by which policies refer to the value"})
"""The identity, which gives its operand a name that policies can refer to."""


@name_p.def_abstract_eval
def _name_type(x: Any, *, name: str) -> Any:
    return x


@name_p.def_decomposition
def _name(x: Any, *, name: str) -> Any:
    return x


place_p = Primitive("place")
place_p.def_traits(
    parameters={"src": "the memory of the operand", "dst": "the memory of the result"}
)
"""The identity, whose operand is in memory ``src`` and whose result is in memory ``dst``.

Memories have the names that devices give them (``"device"``, ``"pinned_host"``), and are not part
of types: they do not change what is computed.
"""


@place_p.def_abstract_eval
def _memory_type(x: Any, *, src: str, dst: str) -> Any:
    return x
