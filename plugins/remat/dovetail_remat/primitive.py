"""The primitives ``remat2`` (a call whose values are computed again), ``name`` and ``place``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface

remat_p = Primitive("remat2", multiple_results=True)
remat_p.def_traits(
    parameters={
        "jaxpr": "program of the function",
        "policy": "what is kept for the reverse pass",
        "prevent_cse": "whether a barrier keeps the second computation",
        "differentiated": "whether it is what a derivative computes again",
        "effects": "how often effects happen",
    }
)
"""``remat2(*operands, jaxpr, policy, prevent_cse, differentiated, effects="once")``.

``prevent_cse`` says which operands of the second computation stand behind a barrier: a bool for
all of them, or one for each. ``differentiated`` marks the second computation. With ``effects`` of
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
name_p.def_traits(parameters={"name": "by which policies know the value"})
"""The identity, which gives its operand a name that policies can refer to."""


@name_p.def_abstract_eval
def _name_type(x: Any, *, name: str) -> Any:
    return x


@name_p.def_decomposition
def _name(x: Any, *, name: str) -> Any:
    return x


place_p = Primitive("place")
place_p.def_traits(parameters={"src": "where the value is", "dst": "where it goes"})
"""The identity, whose result is in memory ``dst`` while its operand is in memory ``src``.

Memories are named as devices name theirs (``"device"``, ``"pinned_host"``). They are no part of
types: a value computes the same wherever it is.
"""


@place_p.def_abstract_eval
def _place_type(x: Any, *, src: str, dst: str) -> Any:
    return x
